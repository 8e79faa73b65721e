"use strict";
// Listens to a stream, in any page.

/** Hertz of the loudest tone in it. */
window.pitchOf = async (stream) => {
  const context = new AudioContext();
  await context.resume();
  const analyser = new AnalyserNode(context, { fftSize: 16384, smoothingTimeConstant: 0 });
  context.createMediaStreamSource(stream).connect(analyser);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const bins = new Float32Array(analyser.frequencyBinCount);
  analyser.getFloatFrequencyData(bins);
  await context.close();
  return (bins.indexOf(Math.max(...bins)) * context.sampleRate) / analyser.fftSize;
};
