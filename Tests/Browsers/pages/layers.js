"use strict";
// People who send a picture in several layers, in a codec of the test's choice, and viewers that ask for one of them.

/** As the server's own page publishes a camera. */
const cameraLayers = [
  { rid: "f", scaleResolutionDownBy: 1, maxBitrate: 1_700_000 },
  { rid: "h", scaleResolutionDownBy: 2, maxBitrate: 500_000 },
  { rid: "q", scaleResolutionDownBy: 4, maxBitrate: 150_000 },
];

/** A key of one byte, which stands for one of many: what the server sees of a frame's inside makes no sense. */
const KEY = 0xa5;

/** Frames with all but the bytes that a packetizer looks at turned over, and back by the same. */
function scrambled(codec, type) {
  // VP8's payload header tells key frames by the first bit, and their size by ten bytes.
  const clear = codec === "VP8" ? (type === "key" ? 10 : 3) : 0;
  return ({ data }) => {
    const bytes = new Uint8Array(data);
    for (let at = clear; at < bytes.length; at += 1) bytes[at] ^= KEY;
    return bytes.buffer;
  };
}

class LayeredParticipant extends Participant {
  /**
   * `codec`: VP8 and so on; `mode`: of scalability, which is one encoding; `encrypted`: frames are transformed; `plainSound`: it takes no
   * RED.
   */
  constructor({ codec = null, mode = null, encrypted = false, audio = true, plainSound = false } = {}) {
    super();
    this.plainSound = plainSound;
    this.codec = codec;
    this.mode = mode;
    this.encrypted = encrypted;
    this.audio = audio;
  }

  open(configuration = {}) {
    super.open(this.encrypted ? { ...configuration, encodedInsertableStreams: true } : configuration);
    if (!this.encrypted) return;
    const add = this.connection.ontrack;
    this.connection.ontrack = (event) => {
      add(event);
      this.#transform(event.receiver, event.track.kind);
    };
  }

  async send(stream) {
    for (const track of stream.getTracks()) {
      if (track.kind === "audio" && !this.audio) continue;
      const isVideo = track.kind === "video";
      const transceiver = this.connection.addTransceiver(track, {
        direction: "sendonly",
        streams: [stream],
        ...(isVideo ? { sendEncodings: this.#encodings() } : {}),
      });
      if (isVideo && this.codec) transceiver.setCodecPreferences(only(this.codec));
      if (this.encrypted) this.#transform(transceiver.sender, track.kind);
    }
  }

  #encodings() {
    return this.mode
      ? [{ scalabilityMode: this.mode, maxBitrate: 2_000_000 }]
      : cameraLayers.map((layer) => ({ ...layer }));
  }

  #transform(end, kind) {
    const { readable, writable } = end.createEncodedStreams();
    const codec = this.codec;
    readable.pipeThrough(new TransformStream({
      transform(frame, controller) {
        if (kind === "video") frame.data = scrambled(codec, frame.type)(frame);
        controller.enqueue(frame);
      },
    })).pipeTo(writable);
  }

  /** Viewers take dependency descriptors, which Chromium offers by itself only where it sends layers. */
  receive(pairs) {
    super.receive(pairs);
    for (const transceiver of this.connection.getTransceivers()) {
      if (this.plainSound && transceiver.direction === "recvonly" && transceiver.receiver.track.kind === "audio") {
        const { codecs } = RTCRtpReceiver.getCapabilities("audio");
        transceiver.setCodecPreferences(codecs.filter(({ mimeType }) => !/red$/i.test(mimeType)));
      }
      if (transceiver.direction !== "recvonly" || !transceiver.setHeaderExtensionsToNegotiate) continue;
      const extensions = transceiver.getHeaderExtensionsToNegotiate();
      const descriptor = extensions.find(({ uri }) => uri.includes("dependency-descriptor"));
      if (!descriptor) continue;
      descriptor.direction = "sendrecv";
      transceiver.setHeaderExtensionsToNegotiate(extensions);
    }
  }

  /** Which of a participant's layers is shown; answers when it was asked for. */
  async want(identity, quality) {
    const [track] = Object.entries(this.tracks)
      .find(([, each]) => each.identity === identity && each.source === "camera");
    const asked = clock();
    await this.request({ type: "subscribe", track, quality });
    return asked;
  }
}

/** A codec with its retransmissions. */
function only(name) {
  const { codecs } = RTCRtpSender.getCapabilities("video");
  const named = (each) => each.mimeType.split("/")[1].toLowerCase();
  return codecs.filter((each) => named(each) === name.toLowerCase() || named(each) === "rtx");
}

/** The longest time between pictures that were shown from `since` to `until`, in milliseconds. */
function longestGap(watch, since, until) {
  const frames = watch.frames.filter((time) => time >= since && time <= until);
  let longest = 0;
  [since, ...frames, until].reduce((before, time) => {
    longest = Math.max(longest, time - before);
    return time;
  });
  return longest;
}

/** A direct connection as a plain page makes it, which leaves to the browser what gives way. */
class PlainDirect extends Direct {
  async send(stream) {
    for (const track of stream.getTracks()) this.add(track, stream);
  }
}
