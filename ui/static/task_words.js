/** The tasks in words for people. */

/**
 * What can be chosen, in groups: `key` names a choice, `task` and `variant` are as the app names
 * them, `about` says what comes of it. Where `thinking` or `plain` names a variant, a box to tick
 * chooses it.
 */
export const GROUPS = [
  {
    name: "Speak",
    choices: [
      { key: "speak", name: "Plain", task: "tts_sft", about: "Speaks a text." },
      { key: "style", name: "In a style", task: "tts_sft_with_instruct", about: "Speaks a text as you describe it." },
      {
        key: "copy",
        name: "In a copied voice",
        task: "tts_sft_with_audio",
        about: "Speaks a text in the voice of a recording.",
      },
      {
        key: "described",
        name: "As described in the text",
        task: "tts_sft_with_natural_instruction",
        about: "Finds in the text itself what to say and how to say it.",
      },
    ],
  },
  {
    name: "Hear",
    choices: [
      {
        key: "transcribe",
        name: "Transcribe",
        task: "audio_trancribing_sft",
        variant: "clean",
        about: "Writes down what is said.",
      },
      {
        key: "repeat",
        name: "Transcribe and say it back",
        task: "audio_trancribing_sft",
        about: "Writes down what is said, and says it again.",
      },
      {
        key: "ask",
        name: "Ask about a recording",
        task: "audio_understanding_sft",
        about: "Answers questions about speech, music or any sound.",
      },
      {
        key: "reason",
        name: "Ask, with reasoning",
        task: "audio_understanding_sft_with_thinking",
        about: "Thinks about the recording before it answers. You can read along.",
      },
    ],
  },
  {
    name: "Talk",
    choices: [
      {
        key: "spoken",
        name: "Speech to speech",
        task: "spoken_dialogue_sft_multiturn",
        talks: true,
        about: "You speak, and it speaks. A recording is sent as soon as you stop.",
      },
      {
        key: "written",
        name: "Speech to text",
        task: "speech2text_dialogue_sft_multiturn",
        talks: true,
        plain: "no_thinking",
        about: "You speak, and it writes. A recording is sent as soon as you stop.",
      },
      {
        key: "typed",
        name: "Text",
        task: "text_dialogue_sft_multiturn",
        talks: true,
        thinking: "thinking",
        about: "You write, and it writes.",
      },
    ],
  },
];

export const CHOICES = GROUPS.flatMap(({ choices }) => choices);

/** The two ways to ask about a recording. */
export const BOTH_WAYS = ["ask", "reason"].map((key) => CHOICES.find((choice) => choice.key === key));

/** Fills the box for a style. */
export const STYLES = {
  Cheerful: "in a cheerful, lively voice",
  Calm: "slowly and calmly, like somebody who reads a bedtime story",
  Sad: "sadly, close to tears",
  Angry: "angrily, with a raised voice",
  Whispered: "in a whisper, as if nobody else may hear it",
  "News reader": "like a news reader, clear and even",
  "Old man": "like an old man with a hoarse voice",
  Child: "like an excited child",
};

/** Fills the box for a question. */
export const QUESTIONS = {
  "What is said": "What is said in this recording? Sum it up in two sentences.",
  "Who speaks": "How many people speak, and what can you tell about each of them?",
  "The mood": "What do the speakers feel, and how can it be heard?",
  "The place": "What can be heard in the background, and where might it have been recorded?",
  "The music": "Describe the music: its style, instruments, tempo and mood.",
};

/** A text in which the voice is described too. */
export const DESCRIBED = "An old sailor, hoarse and slow, says: I have seen the sea take better ships than this one.";
