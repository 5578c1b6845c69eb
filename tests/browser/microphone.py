"""A microphone for pages under test."""

# A microphone that hears what the test says, and a quiet room else.
MICROPHONE = """
(() => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  let context, room;
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    if (!constraints.audio) return open(constraints);
    if (window.refused) throw new DOMException("no", "NotAllowedError");
    context = new AudioContext();
    room = context.createMediaStreamDestination();
    const hum = context.createConstantSource();
    hum.offset.value = 1e-4;
    hum.connect(room);
    hum.start();
    return (window.microphone = room.stream);
  };
  window.saySomething = async (wav) => {
    const bytes = await (await fetch("data:audio/wav;base64," + wav)).arrayBuffer();
    const source = context.createBufferSource();
    source.buffer = await context.decodeAudioData(bytes);
    source.connect(room);
    source.start();
  };
})();
"""
"""A script that puts a microphone into a page: it hears what ``saySomething(wav)`` is given as a
base64 WAV, and a quiet room else. With ``window.refused`` set, it is refused."""
