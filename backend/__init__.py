"""Everything behind the page: contract, media, conversation, runtime, engines, realtime."""
