/**
 * What participants publish, as everyone sees it, and as its sender handles it.
 * @module publication
 */

/**
 * What a camera is sent in: the server gives each viewer the picture that its connection and its screen have room for. The best
 * comes first: of a small picture Chromium sends fewer, and leaves out those at the end.
 * @type {RTCRtpEncodingParameters[]}
 */
const cameraEncodings = [
  { rid: "f", scaleResolutionDownBy: 1, maxBitrate: 1_700_000 },
  { rid: "h", scaleResolutionDownBy: 2, maxBitrate: 500_000 },
  { rid: "q", scaleResolutionDownBy: 4, maxBitrate: 150_000 },
];

/**
 * Codecs that are better than VP8, the best first. Each takes a third less of everyone's connection for the same picture, and two or
 * three times as much of the processor that encodes it.
 */
const better = ["VP9"];
/** With fewer processors a machine has enough to do with three pictures of VP8. */
const PROCESSORS = 4;

/** Those that this machine encodes without effort. @returns {Promise<string[]>} */
export async function affordableCodecs() {
  const picture = { width: 1280, height: 720, bitrate: 1_700_000, framerate: 30 };
  const found = await Promise.all(better.map(async (codec) => {
    try {
      const { supported, smooth, powerEfficient } = await navigator.mediaCapabilities.encodingInfo({
        type: "webrtc", video: { contentType: `video/${codec}`, ...picture } });
      return supported && (powerEfficient || (smooth && (navigator.hardwareConcurrency ?? 0) >= PROCESSORS));
    } catch {
      return false; // A browser that can't be asked can't be had to change either.
    }
  }));
  return better.filter((_, index) => found[index]);
}

/** Milliseconds until sizes are said again that the server had no time for. */
const pause = 1000;

/** How a section that sends begins. A screen is sharp or it is of no use: it has one encoding. */
function sending(stream, source) {
  const init = { direction: "sendonly", streams: [stream] };
  if (source === "camera") init.sendEncodings = cameraEncodings.map((encoding) => ({ ...encoding }));
  return init;
}

/** Has all encodings in the codec that is the best of those that everyone takes; with no better one, in the first of these. */
function choose({ encodings, codecs }, taken, wanted) {
  const usable = taken.map(({ payloadType }) => codecs.find((each) => each.payloadType === payloadType)).filter(Boolean);
  const named = (name) => usable.find(({ mimeType }) => mimeType.toLowerCase() === `video/${name}`.toLowerCase());
  const best = wanted.map(named).find(Boolean);
  // Where it never was in a better one there is nothing to go back from; and with none that all take, nothing to go to.
  const chosen = best ?? (encodings.some(({ codec }) => codec) ? usable[0] : undefined);
  if (!chosen) return;
  const { mimeType, clockRate, channels, sdpFmtpLine } = chosen;
  for (const encoding of encodings) {
    encoding.codec = { mimeType, clockRate, channels, sdpFmtpLine };
    // Without this Chromium puts all encodings of VP9 into one stream.
    if (encodings.length > 1) encoding.scalabilityMode = "L1T3";
  }
}

/** Something that a participant sends. Made by `publish` of roost.js. */
export class Publication {
  /** The track's id in the room; undefined while the server has none for it. @type {string | undefined} */
  id;
  /** Whether its sender has muted it; an administrator's mute is in `Room.trackOf`. */
  muted = false;
  /** Whether its frames are encrypted end to end, by a transform of the page's on its sender. */
  encrypted = false;
  /** As in a Track; the next offer says it. @type {string | undefined} */
  name;
  /** What is played together with it. @type {MediaStream} */
  stream;
  /** As in a Track. @type {Source} */
  source;
  /** As in a Track. @type {"audio" | "video"} */
  kind;
  /** Its section of the connection; in another session another one. @type {RTCRtpTransceiver} */
  transceiver;
  /** Sends a request to the server. Set by negotiation.js. @type {(message: object) => Promise<object>} @internal */
  request = () => Promise.reject(new Error("not in a room"));
  #change = Promise.resolve();
  #heard = ""; // sizes, as the server has them
  #isSaying = false;

  /** @internal */
  constructor(connection, track, stream, source) {
    this.stream = stream;
    this.source = source;
    this.kind = track.kind;
    this.transceiver = connection.addTransceiver(track, sending(stream, source));
  }

  /** The name of its section; null before it was offered. @type {string | null} */
  get mid() {
    return this.transceiver.mid;
  }

  /** What is sent. @type {MediaStreamTrack | null} */
  get track() {
    return this.transceiver.sender.track;
  }

  /**
   * How large the pictures of its encodings are: of frames that are encrypted end to end the server sees it nowhere else.
   * @returns {{rid?: string, width: number, height: number}[]}
   */
  get layers() {
    const { width, height } = this.track?.getSettings?.() ?? {};
    if (this.kind !== "video" || !width || !height) return [];
    const size = (pixels, divisor) => Math.min(16_384, Math.max(1, Math.floor(pixels / divisor)));
    return this.transceiver.sender.getParameters().encodings.slice(0, 3).map(({ rid, scaleResolutionDownBy: divisor = 1 }) => (
      { ...(rid && { rid }), width: size(width, divisor), height: size(height, divisor) }));
  }

  /** Sends another track of the same kind from now on, or none, with no new offer. @param {MediaStreamTrack | null} track */
  async replace(track) {
    await this.transceiver.sender.replaceTrack(track);
    this.sayLayers();
  }

  /**
   * Changes how it is encoded from now on, with no new offer, until it is published in another session.
   * @param {(encodings: RTCRtpEncodingParameters[]) => void} change of each encoding `scaleResolutionDownBy`, `maxFramerate`,
   *   `maxBitrate`, or what else `setParameters` takes
   * @throws {DOMException} what `setParameters` throws
   */
  async encode(change) {
    const { sender } = this.transceiver;
    const done = this.#change.then(() => {
      const parameters = sender.getParameters();
      change(parameters.encodings);
      return sender.setParameters(parameters);
    });
    this.#change = done.catch(() => {});
    await done;
    this.sayLayers();
  }

  /** The server has heard of those sizes, with an offer or since. @param {object[]} layers @internal */
  heard(layers) {
    this.#heard = JSON.stringify(layers);
  }

  /**
   * Says how large its pictures are where the server has heard otherwise: by itself behind `replace` and `encode`, and by the page where
   * the track's own size has changed, as by `applyConstraints`. One message is on its way at a time, the last of which says how it is.
   */
  async sayLayers() {
    const isUnheard = () => this.layers.length > 0 && JSON.stringify(this.layers) !== this.#heard;
    if (this.#isSaying) return;
    this.#isSaying = true;
    try {
      // Without an id it has no track: the next offer says it.
      while (this.id && isUnheard()) {
        const { id: track, layers } = this;
        try {
          await this.request({ type: "layers", track, layers });
          this.heard(layers);
        } catch (error) {
          if (error.code !== "rate-limited") throw error;
          await new Promise((resolve) => setTimeout(resolve, pause));
        }
      }
    } catch {
      // Its session or its track is over, or the server knows no such message: the next offer says it.
    } finally {
      this.#isSaying = false;
    }
  }

  /** Sends the same over another connection, where it becomes another track. @internal */
  moveTo(connection) {
    this.id = undefined;
    this.#heard = "";
    this.transceiver = connection.addTransceiver(this.track ?? this.kind, sending(this.stream, this.source));
  }

  /**
   * Sends those encodings alone that are watched, in the best codec that everyone takes.
   * @param {{rid: string, active: boolean}[]} layers
   * @param {{payloadType: number, codec: string}[]} taken what everyone takes
   * @param {string[]} wanted codecs that are better than the first of the section, the best first
   * @internal
   */
  advised(layers, taken, wanted) {
    const { sender } = this.transceiver;
    const set = (change) => {
      const parameters = sender.getParameters();
      change(parameters);
      return sender.setParameters(parameters);
    };
    const activate = ({ encodings }) => {
      for (const encoding of encodings) encoding.active = layers.find(({ rid }) => rid === encoding.rid)?.active ?? encoding.active;
    };
    // One after the other: parameters that were read before another change are refused.
    this.#change = this.#change
      .then(() => set((parameters) => {
        activate(parameters);
        choose(parameters, taken, wanted);
      }))
      .catch(() => set(activate)) // A browser that refuses the codec refuses all that comes with it.
      .catch(() => {}); // Of a section that has ended.
  }

  /** Looks up what the server calls it. @param {{mid: string, track: string}[]} tracks @internal */
  answered(tracks) {
    this.id ??= tracks.find(({ mid }) => mid !== null && mid === this.mid)?.track;
  }
}
