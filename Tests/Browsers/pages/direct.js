"use strict";
// Moving noise at 30 frames a second and a tone, sent to a connection whose descriptions the test carries over.

const width = 640;
const height = 360;
const framesPerSecond = 30;

function noise() {
  const canvas = document.createElement("canvas");
  canvas.width = width * 2;
  canvas.height = height * 2;
  const context = canvas.getContext("2d");
  for (let y = 0; y < canvas.height; y += 8) {
    for (let x = 0; x < canvas.width; x += 8) {
      context.fillStyle = `hsl(${Math.floor(Math.random() * 360)} 60% ${20 + Math.floor(Math.random() * 60)}%)`;
      context.fillRect(x, y, 8, 8);
    }
  }
  return canvas;
}

function picture() {
  const canvas = document.getElementById("source");
  const context = canvas.getContext("2d");
  const tile = noise();
  let count = 0;
  setInterval(() => {
    count += 1;
    context.drawImage(tile, -((count * 3) % width), -((count * 2) % height));
    context.fillStyle = "white";
    context.font = "48px sans-serif";
    context.fillText(String(count), 20, 60);
  }, 1000 / framesPerSecond);
  return canvas.captureStream(framesPerSecond).getVideoTracks()[0];
}

async function tone() {
  const context = new AudioContext();
  const oscillator = new OscillatorNode(context, { frequency: 440 });
  const destination = context.createMediaStreamDestination();
  oscillator.connect(destination);
  oscillator.start();
  await context.resume();
  return destination.stream.getAudioTracks()[0];
}

async function gathered(connection) {
  while (connection.iceGatheringState !== "complete") {
    await new Promise((resolve) =>
      connection.addEventListener("icegatheringstatechange", resolve, { once: true }));
  }
  return connection.localDescription.sdp;
}

async function connection() {
  const made = new RTCPeerConnection();
  window.peerConnection = made;
  const stream = new MediaStream([picture(), await tone()]);
  const remote = new MediaStream();
  made.addEventListener("track", (event) => {
    remote.addTrack(event.track);
    document.getElementById("remote").srcObject = remote;
  });
  for (const track of stream.getTracks()) {
    made.addTrack(track, stream);
  }
  return made;
}

window.direct = {
  async offer() {
    const made = await connection();
    await made.setLocalDescription();
    return gathered(made);
  },
  async answer(sdp) {
    const made = await connection();
    await made.setRemoteDescription({ type: "offer", sdp });
    await made.setLocalDescription();
    return gathered(made);
  },
  async accept(sdp) {
    await window.peerConnection.setRemoteDescription({ type: "answer", sdp });
  },
};
