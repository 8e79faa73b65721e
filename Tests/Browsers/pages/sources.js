"use strict";
// Pictures and sound that a page makes itself, 640×360 at 30 frames a second, each one MediaStream.

const sources = { width: 640, height: 360, framesPerSecond: 30 };

{
  let audio = null;

  /** The page's AudioContext, running. */
  sources.audio = async () => {
    audio ??= new AudioContext();
    await audio.resume();
    return audio;
  };
}

/** A picture of which `draw(context, count)` makes each frame. */
sources.picture = (draw) => {
  const canvas = document.createElement("canvas");
  canvas.width = sources.width;
  canvas.height = sources.height;
  // Where there is no graphics card, a canvas in plain memory is by far the cheapest.
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  let count = 0;
  setInterval(() => draw(context, count++), 1000 / sources.framesPerSecond);
  return canvas.captureStream().getVideoTracks()[0];
};

/** Noise that moves: an encoder can foresee most of it, and never has nothing to do. */
sources.noise = async () => {
  const { width, height } = sources;
  const tile = document.createElement("canvas");
  tile.width = width * 2;
  tile.height = height * 2;
  const paint = tile.getContext("2d", { alpha: false, willReadFrequently: true });
  const pixels = paint.createImageData(tile.width, tile.height);
  for (let y = 0; y < tile.height; y += 1) {
    for (let x = 0; x < tile.width; x += 1) {
      const at = 4 * (y * tile.width + x);
      const grain = Math.random() * 40;
      pixels.data[at] = 90 + grain + 60 * Math.sin(x / 23);
      pixels.data[at + 1] = 90 + grain + 60 * Math.sin(y / 17);
      pixels.data[at + 2] = 90 + grain + 60 * Math.sin((x + y) / 31);
      pixels.data[at + 3] = 255;
    }
  }
  paint.putImageData(pixels, 0, 0);
  const video = sources.picture((context, count) => {
    context.drawImage(tile, -((count * 3) % width), -((count * 2) % height));
    context.fillStyle = "white";
    context.font = "48px sans-serif";
    context.fillText(String(count), 20, 60);
  });
  const context = await sources.audio();
  const sound = context.createMediaStreamDestination();
  const tone = new OscillatorNode(context, { frequency: 440 });
  tone.connect(sound);
  tone.start();
  return new MediaStream([video, sound.stream.getAudioTracks()[0]]);
};

/** Black and still; once a second white and a tone of 1 kHz, both for a tenth of it. */
sources.flash = async () => {
  const context = await sources.audio();
  const sound = context.createMediaStreamDestination();
  const gain = new GainNode(context, { gain: 0 });
  const tone = new OscillatorNode(context, { frequency: 1000 });
  tone.connect(gain).connect(sound);
  tone.start();
  let second = Math.floor(performance.now() / 1000);
  const video = sources.picture((paint) => {
    const now = performance.now();
    if (Math.floor(now / 1000) > second) {
      second = Math.floor(now / 1000);
      gain.gain.setValueAtTime(0.8, context.currentTime);
      gain.gain.setValueAtTime(0, context.currentTime + 0.1);
    }
    paint.fillStyle = now % 1000 < 100 ? "white" : "black";
    paint.fillRect(0, 0, sources.width, sources.height);
  });
  return new MediaStream([video, sound.stream.getAudioTracks()[0]]);
};

/** Four bars, black or white, that spell a number below 16, and silence until `speak(true)`; small and slow. */
sources.badge = async (number) => {
  const canvas = document.createElement("canvas");
  canvas.width = 160;
  canvas.height = 90;
  const paint = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  let count = 0;
  setInterval(() => {
    for (let bar = 0; bar < 4; bar += 1) {
      paint.fillStyle = number & (1 << bar) ? "white" : "black";
      paint.fillRect(bar * 40, 0, 40, 90);
    }
    paint.fillStyle = "gray";
    paint.fillRect(count % 160, 80, 10, 10);
    count += 1;
  }, 100);
  const context = await sources.audio();
  const sound = context.createMediaStreamDestination();
  const gain = new GainNode(context, { gain: 0 });
  const tone = new OscillatorNode(context, { frequency: 300 + 20 * number });
  tone.connect(gain).connect(sound);
  tone.start();
  const stream = new MediaStream([canvas.captureStream().getVideoTracks()[0], sound.stream.getAudioTracks()[0]]);
  stream.speak = (aloud) => (gain.gain.value = aloud ? 0.8 : 0);
  return stream;
};
