// Roost's native signalling, roost.v1. Made by scripts/make-types from signalling.schema.json.

/** Names a request, so that its answer can: a string of at most 64 bytes, or a whole number. */
export type RequestID = string | number;

/** TR_ and random; never comes again. */
export type TrackID = string;

/** PA_ and random; never comes again. */
export type ParticipantID = string;

/** What a track shows or lets hear. */
export type Source = "camera" | "microphone" | "screen_share" | "screen_share_audio" | "unknown";

/** At most 256, at most 64 KiB together. */
export type Attributes = Record<string, string>;

/** A track as everybody in the room may see it. */
export interface Track {
  id: TrackID;
  kind: "audio" | "video";
  source: Source;
  name?: string;
  /** It reaches no subscriber: its publisher or an administrator has muted it. */
  muted: boolean;
  /** An administrator's mute stands, which the publisher can't lift. */
  mutedByAdmin: boolean;
  /** Its frames are encrypted end to end, as its publisher said. */
  encrypted?: boolean;
}

/** What a participant may do; may change while it is in. */
export interface Permissions {
  canPublish: boolean;
  /** Absent: every source. */
  canPublishSources?: Source[];
  canSubscribe: boolean;
  canPublishData: boolean;
  canUpdateOwnMetadata: boolean;
}

/** A participant as everybody in the room may see it. */
export interface Participant {
  id: ParticipantID;
  /** The identity in the participant's token. */
  identity: string;
  /** To be shown, as text. */
  name?: string;
  /** At most 64 KiB. */
  metadata?: string;
  attributes: Attributes;
  permissions?: Permissions;
  tracks: Track[];
}

/** Whose track it is. */
export interface Publisher {
  id: ParticipantID;
  /** The identity in the participant's token. */
  identity: string;
  /** To be shown, as text. */
  name?: string;
}

/** A room; one of the same name made later has another id. */
export interface Room {
  id: string;
  name: string;
  metadata?: string;
  /** Its tracks are written to files on the server. */
  recorded?: boolean;
}

/** A receive section and the track that plays in it. */
export interface Slot {
  mid: string;
  track: TrackID | null;
}

/** Why a participant left the room. */
export type LeaveReason = "left" | "removed" | "connectionLost" | "duplicateIdentity" | "movedElsewhere" | "roomClosed" | "serverShutdown";

/** Why a recording ended. */
export type RecordingEndReason = "stopped" | "roomFinished" | "serverShutdown" | "serverFailed" | "tooLarge" | "diskFull" | "storageFailed";

/** A recording of the room on the server, as it begins or ends. */
export interface Recording {
  id: string;
  /** Whether the room is recorded from here on, by this recording or by another. */
  active: boolean;
  /** In `recording.ended`. */
  reason?: RecordingEndReason;
}

/** The call that a room is of, as it stood at an event. */
export interface EventCall {
  id: string;
  /** Who started it. */
  callerId: string;
  /** `relay` or `direct`. */
  path: string;
  /** `audio` or `video`. */
  media: string;
  /** Everyone who was ever invited. */
  allParticipants: string[];
  /** In `call.ended`. */
  outcome?: string;
  /** In `call.ended`, of one that was connected. */
  durationMs?: number;
  /** In `session.…`: its id. */
  session?: string;
  /** In `session.…`: what it is. */
  experience?: string;
}

/** What happened in a room. */
export interface RoomEvent {
  /** From 1, without gaps, for each room id. */
  id: number;
  /** RFC 3339, UTC, milliseconds. */
  time: string;
  room: string;
  roomId: string;
  type: "room.started" | "room.finished" | "room.updated" | "participant.joined" | "participant.left" | "participant.updated" | "participant.reconnecting" | "participant.reconnected" | "track.published" | "track.unpublished" | "track.muted" | "track.unmuted" | "room.recording" | "recording.ended" | "call.started" | "call.answered" | "call.ended" | "session.started" | "session.ended";
  /** Its publisher, in the events of a track. */
  participant?: Participant | Publisher;
  track?: Track;
  reason?: LeaveReason;
  /** The room's, in `room.updated`; absent: it has none. */
  metadata?: string;
  /** In `room.recording` and `recording.ended`. */
  recording?: Recording;
  /** In `call.…` and `session.…`. */
  call?: EventCall;
}

/** Listed in signalling.md. */
export type ErrorCode = "bad-message" | "auth-required" | "auth-repeated" | "token-malformed" | "token-absent" | "token-too-long" | "token-signature" | "token-algorithm" | "token-expired" | "token-not-yet-valid" | "token-unknown-key" | "token-not-for-this" | "token-removed" | "session-gone" | "offer-pending" | "offer-refused" | "not-allowed" | "unknown-track" | "unknown-slot" | "unknown-session" | "session-ended" | "id-taken" | "reserved-type" | "unsupported" | "too-large" | "limit" | "rate-limited" | "room-full" | "room-not-found" | "unavailable";

/** Of a picture in several sizes: none, the smallest, one between, the best that there is. */
export type PictureQuality = "off" | "low" | "medium" | "high";

/** What a sending section is. */
export interface OfferedTrack {
  mid: string;
  source?: Source;
  name?: string;
  /** Muted from the start. */
  muted?: boolean;
  /** Its frames are encrypted end to end: the server adds nothing to them. */
  encrypted?: boolean;
  /** How large its pictures are, which of encrypted frames no header says. */
  layers?: OfferedLayer[];
}

/** How large the pictures of an encoding are. */
export interface OfferedLayer {
  /** Absent: of the only encoding. */
  rid?: string;
  /** Pixels. */
  width: number;
  /** Pixels. */
  height: number;
}

/** A track and how it is shown. */
export interface ViewedTrack {
  track: string;
  /** Absent: the best. */
  quality?: PictureQuality;
  /** Device pixels; absent: any. */
  maxWidth?: number;
  /** Device pixels; absent: any. */
  maxHeight?: number;
  /** A second; absent: any. */
  maxFrameRate?: number;
  /** The higher is served first where not all can be; absent: 128. */
  priority?: number;
}

/** An event of a shared session, as its sender makes it. */
export interface NewSessionEvent {
  /** A UUID that the client makes; one that was used before gets its first number again. */
  id: string;
  /** The app's own; those that begin with `system.` are the server's. */
  type: string;
  /** The app's own: JSON of at most 16 KiB, 12 levels deep; absent: null. */
  data?: unknown;
}

/** Joins, as the first message. */
export interface Auth {
  type: "auth";
  id?: RequestID;
  token: string;
}

/** Goes on with a session whose socket has gone, as the first message. */
export interface Resume {
  type: "resume";
  id?: RequestID;
  /** The last that came. */
  resumeToken: string;
  /** The last event that is known. */
  after: number;
}

/** A description of the client's; one in flight. */
export interface Offer {
  type: "offer";
  id?: RequestID;
  sdp: string;
  tracks?: OfferedTrack[];
}

/** An address of the client's. */
export interface Candidate {
  type: "candidate";
  id?: RequestID;
  candidate: string;
  mid?: string | null;
}

/** Has a track play before all that were not asked for. */
export interface Subscribe {
  type: "subscribe";
  id?: RequestID;
  track: string;
  /** The section; absent: any. */
  mid?: string;
  /** Absent: the best. */
  quality?: PictureQuality;
  /** Device pixels; absent: any. */
  maxWidth?: number;
  /** Device pixels; absent: any. */
  maxHeight?: number;
  /** A second; absent: any. */
  maxFrameRate?: number;
  /** The higher is served first where not all can be; absent: 128. */
  priority?: number;
}

/** Frees a track's slot. */
export interface Unsubscribe {
  type: "unsubscribe";
  id?: RequestID;
  track: string;
}

/** Says how tracks are shown, and so how good they are wanted. */
export interface View {
  type: "view";
  id?: RequestID;
  tracks?: ViewedTrack[];
}

/** Says how large the pictures of a track of one's own are from now on. */
export interface Layers {
  type: "layers";
  id?: RequestID;
  track: string;
  /** Encodings that aren't named stay as they were said to be. */
  layers?: OfferedLayer[];
}

/** Mutes or unmutes a track of one's own. */
export interface Mute {
  type: "mute";
  id?: RequestID;
  track: string;
  muted: boolean;
}

/** Changes what others see. */
export interface Update {
  type: "update";
  id?: RequestID;
  name?: string;
  metadata?: string;
  attributes?: Attributes;
}

/** A message to others. */
export interface SendData {
  type: "data";
  id?: RequestID;
  /** Base64 of at most 16 KiB. */
  payload: string;
  topic?: string;
  /** May it be left out where a receiver is slow? True means no. */
  reliable?: boolean;
  /** Identities; absent: everybody. */
  destinations?: string[];
}

/** Asks what comes of each track, and why; once a second at most. */
export interface Explain {
  type: "explain";
  id?: RequestID;
}

/** An event for a shared session of the room's call. */
export interface AppendSessionEvent {
  type: "session.event";
  id?: RequestID;
  /** The session's id. */
  sid: string;
  event: NewSessionEvent;
}

/** Ends the session. */
export interface Leave {
  type: "leave";
  id?: RequestID;
  reason?: string;
}

/** Keeps the connection open. */
export interface Ping {
  type: "ping";
  id?: RequestID;
}

/** From the client. */
export type ClientMessage = Auth | Resume | Offer | Candidate | Subscribe | Unsubscribe | View | Layers | Mute | Update | SendData | Explain | AppendSessionEvent | Leave | Ping;

/** Why a track comes as it does: nothing better is to be had; its publisher sends nothing better; the connection carries no more; it is shown no larger or faster; it is turned off; it is muted; its packets have ceased to come; every slot is taken; no section has its codec; a key frame is waited for; the connection isn't up; the server can't say at the moment. */
export type StreamReason = "best" | "publisher" | "bandwidth" | "view" | "off" | "muted" | "no-media" | "no-slot" | "codec" | "key-frame" | "connecting" | "unknown";

/** A STUN or TURN server, as RTCPeerConnection takes it. */
export interface ICEServer {
  urls: string[];
  /** For TURN: good for a while only. */
  username?: string;
  credential?: string;
}

/** A section of one's own and the track that it is. */
export interface AnsweredTrack {
  mid: string;
  track: TrackID;
}

/** A section that was answered by port 0, and why. */
export interface Declined {
  mid: string;
  code: string;
}

/** The answer to an offer, which came while the session had no socket. */
export interface ResumedAnswer {
  id?: RequestID;
  sdp: string;
  tracks: AnsweredTrack[];
  slots: Slot[];
  declined: Declined[];
}

/** A participant that speaks. */
export interface Speaker {
  participant: ParticipantID;
  level: number;
}

/** How well a participant's media arrives. */
export interface ConnectionQuality {
  participant: ParticipantID;
  quality: "excellent" | "good" | "poor" | "lost";
}

/** An encoding by its RID, and whether it is watched. */
export interface WatchedLayer {
  rid: string;
  active: boolean;
}

/** A codec of the track's own section that all who are present take. */
export interface TakenCodec {
  payloadType: number;
  codec: string;
}

/** What the path to a subscriber carries: bits per second with UDP and IP. */
export interface TransportReport {
  /** What may be sent; absent: nothing is withheld, since what comes isn't reported on. */
  target?: number;
  /** What arrives, by the subscriber's reports. */
  estimated?: number;
  /** What its streams are given. */
  allotted: number;
  /** What everything that it wants would take. */
  wanted: number;
  /** The target at which more would be sent. */
  next?: number;
  /** 0 to 1, smoothed. */
  loss?: number;
  /** Seconds. */
  roundTrip?: number;
  /** The rate of the last probe for more. */
  probe?: number;
  /** What it shows isn't known yet. */
  isProbing?: boolean;
}

/** How a subscriber shows a track; absent: as large and as fast as it comes. */
export interface WantedPicture {
  /** Absent: the best. */
  quality?: PictureQuality;
  /** Device pixels; absent: any. */
  maxWidth?: number;
  /** Device pixels; absent: any. */
  maxHeight?: number;
  /** A second; absent: any. */
  maxFrameRate?: number;
  /** The higher is served first where not all can be; absent: 128. */
  priority?: number;
}

/** An encoding up to one of its layers. */
export interface SentLayer {
  /** In the order of the publisher's offer, from 0. */
  encoding: number;
  rid?: string;
  spatial: number;
  temporal: number;
  width?: number;
  height?: number;
  frameRate?: number;
}

/** The last request for a key frame of the track: when, and for whom. */
export interface KeyFrameRequest {
  at: string;
  by: "participant" | "server" | "other";
  participant?: ParticipantID;
}

/** What a participant gets of one track, and why. */
export interface ExplainedStream {
  track: TrackID;
  publisher: ParticipantID;
  state: "active" | "paused" | "waiting";
  reason: StreamReason;
  /** The reason in words, for people. */
  text: string;
  wanted?: WantedPicture;
  sent?: SentLayer;
  /** Bits per second that are sent, with the headers of RTP, UDP and IP. */
  bitrate?: number;
  /** 0 to 1, by the subscriber's last report. */
  loss?: number;
  /** Seconds, by the same. */
  roundTrip?: number;
  /** When the last one of what is sent came. */
  keyFrame?: string;
  keyFrameRequest?: KeyFrameRequest;
}

/** An event of a shared session. */
export interface SharedEvent {
  id: string;
  /** From 1, without gaps, in each session. */
  seq: number;
  type: string;
  /** An identity; null: the server itself. */
  sender: string | null;
  /** RFC 3339, UTC, milliseconds. */
  time: string;
  /** The app's own. */
  data?: unknown;
}

/** The first message: the state of the room exactly as of lastEvent. */
export interface Joined {
  type: "joined";
  id?: RequestID;
  participant: Participant;
  room: Room;
  /** The others. */
  participants: Participant[];
  iceServers: ICEServer[];
  /** Resumes this session; good once. */
  resumeToken: string;
  /** Seconds. */
  pingInterval: number;
  lastEvent: number;
}

/** The session goes on; the events up to lastEvent follow, then what has changed otherwise. */
export interface Resumed {
  type: "resumed";
  id?: RequestID;
  lastEvent: number;
  /** Every receive section, as of lastEvent. */
  slots: Slot[];
  /** Every track of one's own. */
  tracks: AnsweredTrack[];
  /** Resumes this session; good once. */
  resumeToken: string;
  answer?: ResumedAnswer;
}

/** The answer to an offer. */
export interface Answer {
  type: "answer";
  id?: RequestID;
  sdp: string;
  tracks: AnsweredTrack[];
  slots: Slot[];
  declined: Declined[];
}

/** Sections whose track changed. */
export interface Slots {
  type: "slots";
  assignments: Slot[];
}

/** So many more receive sections would be filled, or ICE is to be restarted. */
export interface OfferWanted {
  type: "offerWanted";
  audio: number;
  video: number;
  reason: "slots" | "iceRestart";
}

/** Which encodings of a track of one's own are watched: send no others; and which codecs all who are present take. */
export interface Publish {
  type: "publish";
  track: TrackID;
  layers: WatchedLayer[];
  codecs: TakenCodec[];
}

/** What happened in the room. */
export interface Event {
  type: "event";
  event: RoomEvent;
}

/** Who speaks now, the loudest first. */
export interface Speakers {
  type: "speakers";
  speakers: Speaker[];
}

/** Participants whose connection changed. */
export interface Quality {
  type: "quality";
  participants: ConnectionQuality[];
}

/** Whether a track reaches this participant. */
export interface Stream {
  type: "stream";
  track: TrackID;
  state: "active" | "paused" | "waiting";
  reason?: "no-slot" | "codec" | "no-media" | "bandwidth" | "off";
}

/** A message from another participant. */
export interface Data {
  type: "data";
  from: ParticipantID | null;
  /** Base64. */
  payload: string;
  topic?: string;
  reliable: boolean;
}

/** What comes of each track that one wants and may have, and why. */
export interface Explanation {
  type: "explain";
  id?: RequestID;
  transport?: TransportReport;
  subscriptions: ExplainedStream[];
}

/** An event of a shared session. */
export interface SessionEvent {
  type: "session.event";
  /** The session's id. */
  sid: string;
  event: SharedEvent;
}

/** The number that an event of a shared session has got. */
export interface SessionSeq {
  type: "session.seq";
  id: RequestID;
  /** The session's id. */
  sid: string;
  /** The event's id. */
  event: string;
  seq: number;
}

/** An access token that holds longer than the last. */
export interface Token {
  type: "token";
  token: string;
}

/** A request was done that has no answer of its own. */
export interface Ok {
  type: "ok";
  id: RequestID;
}

/** The answer to ping. */
export interface Pong {
  type: "pong";
  id?: RequestID;
}

/** A request was refused, or the connection is about to be closed. */
export interface ErrorMessage {
  type: "error";
  id?: RequestID;
  code: ErrorCode;
  /** For people. */
  message: string;
  retry: "never" | "now" | "after";
}

/** The server is about to stop and admits no new participant; those who are in may stay until then. */
export interface Draining {
  type: "draining";
  /** RFC 3339, UTC, milliseconds. */
  deadline: string;
}

/** The last message. */
export interface Closed {
  type: "closed";
  id?: RequestID;
  reason: LeaveReason;
}

/** From the server. */
export type ServerMessage = Joined | Resumed | Answer | Slots | OfferWanted | Publish | Event | Speakers | Quality | Stream | Data | Explanation | SessionEvent | SessionSeq | Token | Ok | Pong | ErrorMessage | Draining | Closed;
