// A picture and a sound for trying Roost without camera and microphone: `?source=noise`.

import { whenPressed } from "/pressed.js";

const width = 640;
const height = 360;
const framesPerSecond = 30;

/** Moving noise, which no encoder finds easy. @returns {MediaStreamTrack} */
export function generatedCamera() {
  const canvas = new OffscreenCanvas(width * 2, height * 2);
  const noise = canvas.getContext("2d");
  for (let y = 0; y < canvas.height; y += 8) {
    for (let x = 0; x < canvas.width; x += 8) {
      noise.fillStyle = `hsl(${Math.floor(Math.random() * 360)} 60% ${20 + Math.floor(Math.random() * 60)}%)`;
      noise.fillRect(x, y, 8, 8);
    }
  }
  const shown = Object.assign(document.createElement("canvas"), { width, height });
  const context = shown.getContext("2d");
  let count = 0;
  const draw = () => {
    count += 1;
    context.drawImage(canvas, -((count * 3) % width), -((count * 2) % height));
  };
  draw();
  const timer = setInterval(draw, 1000 / framesPerSecond);
  const track = shown.captureStream(framesPerSecond).getVideoTracks()[0];
  return stopping(track, () => clearInterval(timer));
}

/** A soft tone that comes and goes, so that it differs from a hum: silence until the browser allows it, which may want a press first.
 * @returns {MediaStreamTrack} */
export function generatedMicrophone() {
  const context = new AudioContext();
  const oscillator = new OscillatorNode(context, { frequency: 330 });
  const swell = new OscillatorNode(context, { frequency: 0.5 });
  const volume = new GainNode(context, { gain: 0.15 });
  const destination = context.createMediaStreamDestination();
  swell.connect(new GainNode(context, { gain: 0.1 })).connect(volume.gain);
  oscillator.connect(volume).connect(destination);
  oscillator.start();
  swell.start();
  context.resume().catch(() => {});
  if (context.state === "suspended") whenPressed(() => context.state === "suspended" && context.resume());
  return stopping(destination.stream.getAudioTracks()[0], () => context.close());
}

/** Ends what feeds a track when the track is stopped. */
function stopping(track, end) {
  const stop = track.stop.bind(track);
  track.stop = () => {
    stop();
    end();
  };
  return track;
}
