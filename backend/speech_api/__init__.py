"""The app as a speech server: the routes of OpenAI's speech API, and the voices that go with it."""
