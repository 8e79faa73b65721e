"use strict";
// A client for tests, evaluated behind signaller.js in a page of the server's own origin: it leaves every description to the
// test, and shows what a browser makes of it.

(() => {
  function picture() {
    // A test may have it larger.
    const canvas = window.testCanvas = document.createElement("canvas");
    canvas.width = 320;
    canvas.height = 180;
    const context = canvas.getContext("2d");
    let count = 0;
    setInterval(() => {
      count += 1;
      for (let x = 0; x < 320; x += 20) {
        context.fillStyle = `hsl(${(count * 7 + x) % 360} 70% 50%)`;
        context.fillRect(x, 0, 20, 180);
      }
      context.fillStyle = "white";
      context.font = "40px sans-serif";
      context.fillText(String(count), 20, 100);
    }, 1000 / 20);
    return canvas.captureStream(20).getVideoTracks()[0];
  }

  function tone() {
    const context = new AudioContext();
    const oscillator = new OscillatorNode(context, { frequency: 440 });
    const destination = context.createMediaStreamDestination();
    oscillator.connect(destination);
    oscillator.start();
    context.resume();
    return destination.stream.getAudioTracks()[0];
  }

  let sources = null;

  /** The codecs of a kind whose name is wanted first, or alone, with their retransmissions. */
  function codecs(kind, names, alone) {
    const all = RTCRtpSender.getCapabilities(kind).codecs;
    const name = (codec) => codec.mimeType.split("/")[1].toLowerCase();
    const rank = (codec) => names.indexOf(name(codec));
    const wanted = all.filter((codec) => rank(codec) >= 0).sort((a, b) => rank(a) - rank(b));
    const helpers = ["rtx", "ulpfec", ...(kind === "video" ? ["red"] : [])];
    return [...wanted, ...all.filter((codec) => rank(codec) < 0 && (!alone || helpers.includes(name(codec))))];
  }

  class Client {
    constructor() {
      this.connection = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
      this.element = document.createElement("video");
      this.element.autoplay = this.element.playsInline = true;
      document.body.append(this.element);
      const remote = new MediaStream();
      this.connection.ontrack = ({ track }) => {
        remote.addTrack(track);
        this.element.srcObject = remote;
        this.element.play().catch(() => {});
      };
      this.signaller = new Signaller();
    }

    /** Opens a session in a room. */
    async join(room, identity) {
      const answer = await fetch("/dev/token", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ room, identity, name: identity }),
      });
      const { token } = await answer.json();
      await this.signaller.join(location.origin, room, token);
    }

    add(kind, direction, { encodings, first, only } = {}) {
      sources ??= { audio: tone(), video: picture() };
      const sends = direction.startsWith("send");
      const transceiver = this.connection.addTransceiver(sends ? sources[kind] : kind, {
        direction,
        ...(encodings ? { sendEncodings: encodings } : {}),
      });
      const names = only ?? first;
      if (names) transceiver.setCodecPreferences(codecs(kind, names, Boolean(only)));
      return transceiver;
    }

    /** Offers what was added, has it answered and takes the answer. */
    async negotiate({ gathers = false } = {}) {
      const connection = this.connection;
      await connection.setLocalDescription();
      while (gathers && connection.iceGatheringState !== "complete") {
        await new Promise((resolve) =>
          connection.addEventListener("icegatheringstatechange", resolve, { once: true }));
      }
      const offer = connection.localDescription.sdp;
      const answer = await this.signaller.offer(connection);
      await connection.setRemoteDescription({ type: "answer", sdp: answer.sdp });
      return { offer, answer: answer.sdp, declined: answer.declined, state: connection.signalingState };
    }

    close() {
      this.signaller.close();
      this.connection.close();
      this.element.remove();
    }
  }

  window.RoostTestClient = Client;
  window.RoostTestSources = { tone, picture };
})();
