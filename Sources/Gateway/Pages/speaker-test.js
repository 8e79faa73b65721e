// Three tones, to hear which speaker plays. Fetched when one asks for them.

const tones = [392, 494, 587]; // Hz
const length = 0.35; // s of each

/** Plays them, and ends with them. @param {string} speaker its id; "" for the browser's choice @throws where it can't be used */
export async function playTones(speaker) {
  const context = new AudioContext();
  try {
    const destination = context.createMediaStreamDestination();
    const audio = new Audio();
    audio.srcObject = destination.stream;
    if (speaker) await audio.setSinkId(speaker);
    await context.resume();
    await audio.play();
    const start = context.currentTime + 0.1;
    const last = tones.map((frequency, index) => tone(context, destination, frequency, start + index * length)).at(-1);
    await new Promise((done) => (last.onended = done));
    audio.srcObject = null;
  } finally {
    context.close();
  }
}

/** It swells and fades, so that nothing clicks. */
function tone(context, destination, frequency, at) {
  const oscillator = new OscillatorNode(context, { frequency });
  const volume = new GainNode(context, { gain: 0 });
  volume.gain.setValueAtTime(0, at);
  volume.gain.linearRampToValueAtTime(0.3, at + 0.03);
  volume.gain.linearRampToValueAtTime(0, at + length - 0.03);
  oscillator.connect(volume).connect(destination);
  oscillator.start(at);
  oscillator.stop(at + length);
  return oscillator;
}
