// What getStats() says, as a table: one row for each track, and the transport above it.

import { build, button } from "/build.js";
import { sign, text } from "/elements.js";
import { milliseconds, percent, pixels, rate } from "/units.js";
import { say } from "/words.js";

/** Reads a connection again and again; rates are over the time between two readings. */
export class Statistics {
  #before = new Map();

  /**
   * @param {RTCPeerConnection} connection
   * @param {(mid: string) => string} name what a section carries, for people; "" leaves it out
   */
  async read(connection, name) {
    const stats = await connection.getStats();
    const rows = new Map();
    for (const entry of stats.values()) {
      if (entry.type !== "inbound-rtp" && entry.type !== "outbound-rtp") continue;
      const mid = entry.mid ?? midOf(connection, entry);
      const title = name(mid);
      if (!title) continue;
      const row = { title, ...this.#row(entry, stats) };
      // A camera is sent in several sizes at once.
      const other = rows.get(`${mid} ${entry.type}`);
      rows.set(`${mid} ${entry.type}`, other ? together(row, other) : row);
    }
    this.#before = new Map([...stats].filter(([, entry]) => entry.type.endsWith("-rtp")));
    // One's own first, then person by person.
    const sorted = [...rows.values()].sort((a, b) => b.isSent - a.isSent || a.title.localeCompare(b.title));
    return { rows: sorted, transport: transport(stats) };
  }

  #row(entry, stats) {
    const isSent = entry.type === "outbound-rtp";
    const remote = isSent ? stats.get(entry.remoteId) ?? find(stats, "remote-inbound-rtp", entry.ssrc) : null;
    const before = this.#before.get(entry.id);
    const seconds = before ? (entry.timestamp - before.timestamp) / 1000 : 0;
    const since = (field) => (before ? (entry[field] ?? 0) - (before[field] ?? 0) : 0);
    const bytes = since(isSent ? "bytesSent" : "bytesReceived");
    const lost = since("packetsLost");
    const received = since("packetsReceived");
    const share = isSent ? remote?.fractionLost : received + lost > 0 ? Math.max(lost, 0) / (received + lost) : undefined;
    const roundTrip = isSent ? remote?.roundTripTime : pair(stats)?.currentRoundTripTime;
    const jitter = isSent ? remote?.jitter : entry.jitter;
    return {
      isSent,
      codec: stats.get(entry.codecId)?.mimeType?.split("/")[1] ?? "",
      picture: entry.frameWidth
        ? [pixels(entry.frameWidth, entry.frameHeight), say("unit.frames", { count: Math.round(entry.framesPerSecond ?? 0) })].join(", ") : "",
      pixels: (entry.frameWidth ?? 0) * (entry.frameHeight ?? 0),
      rate: seconds > 0 ? (bytes * 8) / seconds : undefined,
      lost: percent(share),
      roundTrip: delay(roundTrip),
      jitter: delay(jitter),
    };
  }
}

/** Two encodings of one track: of the larger picture, at the rate of both. */
function together(a, b) {
  const [best, other] = a.pixels > b.pixels ? [a, b] : [b, a];
  return { ...best, rate: best.rate === undefined ? other.rate : best.rate + (other.rate ?? 0) };
}

const columns = ["track", "codec", "video", "bitrate", "loss", "rtt", "jitter"];

/** Puts the table into its panel, without rows. @param {() => void} close */
export function fill(panel, close) {
  const heads = columns.map((key) => build("th", { scope: "col" }, key !== "rtt" ? say(`statistics.${key}`)
    : build("abbr", { title: say("statistics.round-trip") }, say("statistics.rtt"))));
  const closing = button(sign("close"), close, { class: "icon", id: "statistics-close", "aria-label": say("statistics.close") });
  panel.replaceChildren(
    build("header", {}, build("h2", {}, say("statistics.title")), closing),
    build("dl", { id: "transport" }),
    build("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": say("statistics.tracks") },
      build("table", {}, build("thead", {}, build("tr", {}, ...heads)), build("tbody", { id: "track-rows" })),
      build("h3", { id: "explanations-title", hidden: true }, say("statistics.explained")),
      build("div", { id: "explanations", class: "explanations" })));
}

/** Puts a reading into the table. */
export function show({ rows, transport }, list, body) {
  list.replaceChildren(...transport.flatMap(([term, value]) => [text("dt", term), text("dd", value)]));
  body.replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    const title = text("th", row.title);
    title.scope = "row";
    line.append(title, ...[row.codec, row.picture, row.rate === undefined ? "" : rate(row.rate), row.lost, row.roundTrip, row.jitter]
      .map((value) => text("td", value || "–")));
    return line;
  }));
}

function transport(stats) {
  const entry = find(stats, "transport");
  const chosen = pair(stats);
  const [local, remote] = [stats.get(chosen?.localCandidateId), stats.get(chosen?.remoteCandidateId)];
  const available = chosen?.availableOutgoingBitrate;
  return [
    [say("statistics.path"), local && remote
      && say("statistics.ends", { near: end(local), far: end(remote), protocol: local.protocol })],
    [say("statistics.round-trip"), delay(chosen?.currentRoundTripTime)],
    [say("statistics.encryption"), [entry?.srtpCipher, entry?.tlsVersion && dtls(entry.tlsVersion)].filter(Boolean).join(", ")],
    [say("statistics.available"), available && rate(available)],
  ].filter(([, value]) => value);
}

function end({ address, port, candidateType }) {
  return `${address?.includes(":") ? `[${address}]` : address ?? "?"}:${port} (${candidateType})`;
}

function dtls(version) {
  return { FEFF: "DTLS 1.0", FEFD: "DTLS 1.2", FEFC: "DTLS 1.3" }[version.toUpperCase()] ?? `TLS ${version}`;
}

function pair(stats) {
  const chosen = find(stats, "transport")?.selectedCandidatePairId;
  if (chosen) return stats.get(chosen);
  for (const entry of stats.values()) {
    if (entry.type === "candidate-pair" && entry.selected) return entry;
  }
  return undefined;
}

function find(stats, type, ssrc) {
  for (const entry of stats.values()) {
    if (entry.type === type && (ssrc === undefined || entry.ssrc === ssrc)) return entry;
  }
  return undefined;
}

function midOf(connection, entry) {
  return connection.getTransceivers().find(({ sender, receiver }) =>
    (entry.type === "inbound-rtp" ? receiver.track : sender.track)?.id === entry.trackIdentifier)?.mid;
}

/** Of a few milliseconds the tenths count. */
const delay = (seconds) => milliseconds(seconds, seconds < 0.01 ? 1 : 0);
