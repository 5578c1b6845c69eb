/** A request as a program would make it. Sounds become files, which the program sends first. */

const OPTIONS = {
  task: "query-type",
  variant: "variant",
  text: "text",
  instruct: "instruct",
  clip: "audio-path",
  voice_clip: "voice-path",
  question: "question",
  system_prompt: "system-prompt",
  max_tokens: "max-reply-tokens",
};

/** The engine that runs anywhere, without options. */
const SMALL = "Embedded";

/** @returns {string} A program in Python. */
export function asPython(request, base) {
  const { body, files } = withFiles(request);
  const lines = [
    "import json",
    "",
    "import httpx",
    "",
    `app = httpx.Client(base_url=${quoted(base)}, timeout=None)`,
    ...(files.length ? ["", "", "def clip(path):", ...CLIP, "", ""] : [""]),
    `request = ${python(body, 0)}`,
    'with app.stream("POST", "v1/tasks", json=request) as reply:',
    "    for line in reply.iter_lines():",
    '        if line.startswith("data:"):',
    "            event = json.loads(line[5:])",
    '            print(event if event["type"] != "audio" else "(sound)")',
  ];
  return lines.join("\n");
}

const CLIP = [
  '    with open(path, "rb") as file:',
  '        return app.post("v1/tasks/clips", files={"file": file}).json()["id"]',
];

/** @returns {string} Commands for a shell, with curl and jq. */
export function asCurl(request, base) {
  const { body, files } = withFiles(request);
  const url = `${base}v1/tasks`;
  const sends = files.map(
    ({ file, name }) => `${name}=$(curl -s -F ${shell(`file=@${file}`)} ${shell(`${url}/clips`)} | jq -r .id)`,
  );
  const named = (_, value) => (value instanceof ClipFile ? `\u0001${value.name}\u0001` : value);
  const data = shell(JSON.stringify(body, named)).replace(/\\u0001(\w+)\\u0001/g, (_, name) => `'"$${name}"'`);
  return [...sends, `curl -N ${shell(url)} -H 'Content-Type: application/json' -d ${data}`].join("\n");
}

/** @returns {string} A command for the app's own command line. */
export function asCommand(request, _base, engine) {
  const { body } = withFiles(request);
  const options = Object.entries(OPTIONS).filter(([key]) => key in body);
  const words = options.map(([key, option]) => `--${option} ${shell(String(body[key]))}`);
  const messages = body.history ? ["cat > messages.json <<'END'", messagesOf(body.history), "END"] : [];
  if (body.history) words.push("--messages messages.json");
  const command = ["python -m backend.cli task", ...words].join(" ");
  return [...(engine === SMALL ? [] : [optionsOf(engine)]), ...messages, command].join("\n");
}

// How the app was started is not for every page to know.
const optionsOf = (engine) => `# This was done by ${engine}: add the engine options that the app was started with.`;

function messagesOf(history) {
  const message = (role, text = "", audio = undefined) => ({ role, text, audio: audio?.file });
  const messages = history.flatMap(({ text, clip, answer, answer_clip: heard }) => [
    message("user", text, clip),
    message("assistant", answer, heard),
  ]);
  return JSON.stringify(messages, null, 1);
}

/** A sound of the request, as a file beside the program. */
class ClipFile {
  constructor(file) {
    this.file = file;
    this.name = file.replace(/\W/g, "_").toUpperCase();
  }

  toString() {
    return this.file;
  }
}

function withFiles({ voice, voice_clip: voiceClip, clip, history = [], ...body }) {
  const files = [];
  const add = (file) => files[files.push(new ClipFile(file)) - 1];
  // A kept voice is this browser's alone; a program gives its recording.
  if (voice || voiceClip) body.voice_clip = add("voice.wav");
  if (clip) body.clip = add("recording.wav");
  const turns = history.map(({ clip: said, answer_clip: heard, ...turn }, at) => ({
    ...turn,
    ...(said && { clip: add(`said-${at + 1}.wav`) }),
    ...(heard && { answer_clip: add(`answer-${at + 1}.wav`) }),
  }));
  if (turns.length) body.history = turns;
  return { body, files };
}

function python(value, depth) {
  if (value instanceof ClipFile) return `clip(${quoted(value.file)})`;
  if (typeof value !== "object") return quoted(value);
  const list = Array.isArray(value);
  const inner = "    ".repeat(depth + 1);
  const items = Object.entries(value).map(
    ([key, item]) => `${inner}${list ? "" : `${quoted(key)}: `}${python(item, depth + 1)},\n`,
  );
  const [open, close] = list ? "[]" : "{}";
  return `${open}\n${items.join("")}${"    ".repeat(depth)}${close}`;
}

const quoted = (value) => JSON.stringify(value);
const shell = (text) => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);
