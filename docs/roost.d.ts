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
  /** Since when its hand is raised; absent: it isn't. */
  hand?: string;
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
export interface RoomState {
  id: string;
  name: string;
  metadata?: string;
  /** Its tracks are written to files on the server. */
  recorded?: boolean;
  /** Who comes waits until a host lets it in. */
  admission?: boolean;
  /** No new session gets in. */
  locked?: boolean;
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

/** Why a session waits no longer. */
export type WaitingEndReason = "admitted" | "removed" | "timedOut" | "left" | "connectionLost" | "duplicateIdentity" | "roomClosed" | "serverShutdown" | "refused";

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

/** A session that waits to be let in, as the hosts of a room see it. */
export interface Waiter {
  /** For `admit`. */
  id: string;
  /** The identity in its token. */
  identity: string;
  /** To be shown, as text. */
  name?: string;
  /** RFC 3339. */
  since: string;
  /** How long it may wait at most. */
  until: string;
  /** In `waiting.ended`. */
  reason?: WaitingEndReason;
}

/** How a room takes those who come. */
export interface RoomSettings {
  /** Who comes waits until a host lets it in. */
  admission: boolean;
  /** No new session gets in. */
  locked: boolean;
}

/** What happened in a room. */
export interface RoomEvent {
  /** From 1, without gaps, for each room id. */
  id: number;
  /** RFC 3339, UTC, milliseconds. */
  time: string;
  room: string;
  roomId: string;
  type: "room.started" | "room.finished" | "room.updated" | "participant.joined" | "participant.left" | "participant.updated" | "participant.reconnecting" | "participant.reconnected" | "participant.waiting" | "waiting.ended" | "track.published" | "track.unpublished" | "track.muted" | "track.unmuted" | "room.recording" | "recording.ended" | "thumbnail.taken" | "call.started" | "call.answered" | "call.ended" | "session.started" | "session.ended";
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
  /** In `participant.waiting` and `waiting.ended`, which hosts alone get. */
  waiting?: Waiter;
  /** The room's, in `room.updated`. */
  settings?: RoomSettings;
}

/** Listed in signalling.md. */
export type ErrorCode = "bad-message" | "auth-required" | "auth-repeated" | "token-malformed" | "token-absent" | "token-too-long" | "token-signature" | "token-algorithm" | "token-expired" | "token-not-yet-valid" | "token-unknown-key" | "token-not-for-this" | "token-removed" | "token-revoked" | "session-gone" | "offer-pending" | "offer-refused" | "not-allowed" | "admission-required" | "not-admitted" | "unknown-participant" | "unknown-track" | "unknown-slot" | "unknown-session" | "session-ended" | "id-taken" | "reserved-type" | "unsupported" | "too-large" | "limit" | "rate-limited" | "room-full" | "room-locked" | "room-not-found" | "unavailable";

/** Of a picture in several sizes: none, the smallest, one between, the best that there is. */
export type PictureQuality = "off" | "low" | "medium" | "high";

/** How large the pictures of an encoding are. */
export interface OfferedLayer {
  /** Absent: of the only encoding. */
  rid?: string;
  /** Pixels. */
  width: number;
  /** Pixels. */
  height: number;
}

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

/** Raises one's hand or lowers it; a host lowers another's. */
export interface RaiseHand {
  type: "hand";
  id?: RequestID;
  raised: boolean;
  /** Whose hand a host lowers, by its id; absent: one's own. */
  participant?: string;
}

/** A host lets one in that waits, or refuses it. */
export interface Admit {
  type: "admit";
  id?: RequestID;
  /** Its id. */
  waiting: string;
  /** False refuses it, which removes its identity unless that is in by another session. */
  allowed?: boolean;
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
export type ClientMessage = Auth | Resume | Offer | Candidate | Subscribe | Unsubscribe | View | Layers | Mute | Update | SendData | RaiseHand | Admit | Explain | AppendSessionEvent | Leave | Ping;

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

/** A message that was said before one has come. */
export interface KeptMessage {
  from: ParticipantID | null;
  /** Its sender's, who may be in no longer. */
  identity?: string;
  /** As its sender was called then. */
  name?: string;
  topic: string;
  /** Base64. */
  payload: string;
  /** RFC 3339. */
  time: string;
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
  room: RoomState;
  /** The others. */
  participants: Participant[];
  iceServers: ICEServer[];
  /** Resumes this session; good once. */
  resumeToken: string;
  /** Seconds. */
  pingInterval: number;
  lastEvent: number;
  /** Who waits to be let in; absent: one is no host. */
  waiting?: Waiter[];
}

/** A host has to let one in: joined comes then, or closed, or error. */
export interface Waiting {
  type: "waiting";
  id?: RequestID;
  /** How long that may take at most, RFC 3339. */
  until: string;
  /** Seconds. */
  pingInterval: number;
}

/** What was said before, right behind joined; the oldest first. */
export interface History {
  type: "history";
  messages: KeptMessage[];
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
export type ServerMessage = Joined | Waiting | History | Resumed | Answer | Slots | OfferWanted | Publish | Event | Speakers | Quality | Stream | Data | Explanation | SessionEvent | SessionSeq | Token | Ok | Pong | ErrorMessage | Draining | Closed;

// The module roost.js. Made from the comments in its sources.

export interface RoomOptions {
  /** Where the server is, as in "https://relay.example" */
  url: string;
  /** The room's name */
  room: string;
  /** An access token for it, or who gives one whenever it is joined: a string serves as long as it is valid, and is renewed by the server while in the room */
  token: string | (() => string | Promise<string>);
  /** Seconds for which a server is looked for that has gone; 300 unless given */
  patience?: number;
  /** Pairs that are offered at first; 4 unless given */
  slots?: number;
  /** For pictures, better than the browser's first, the best first, as in ["AV1", "VP9"]: one is used while everyone in the room takes it; VP9 unless given, where this machine encodes it without effort */
  codecs?: string[];
  /** Joined with what the server says */
  configuration?: RTCConfiguration;
}

/** What plays of a participant now; no `tracks` when nothing does */
export interface Media {
  participant: Participant;
  group: Group;
  /** The same one for as long as anything of the group plays */
  stream: MediaStream;
  tracks: Track[];
}

/** What a room's events have as their `detail` */
export interface RoomEvents {
  /** A host has to let one in: until then there is no room, and `connect` goes on waiting */
  waiting: Waiting;
  /** The state on arrival, also after a lost session; `gone` were there before */
  joined: Joined & {gone: Participant[]};
  /** Whether the server hears and answers; media flows meanwhile */
  state: "connected" | "reconnecting";
  /** What happens in the room afterwards */
  event: RoomEvent;
  /** Messages of before one came, the oldest first, where the room keeps them; right behind `joined` */
  history: KeptMessage[];
  /** What plays of a participant changes */
  media: Media;
  /** Who speaks, the loudest first */
  speakers: Speaker[];
  /** How well a participant's media arrives */
  quality: ConnectionQuality;
  /** Why a track comes or doesn't */
  stream: Stream;
  /** A message of another participant */
  data: Data;
  /** The server has renewed the access token, for applications that keep it */
  token: Token;
  /** The server is about to stop */
  draining: Draining;
  /** The state of the connection for media */
  connection: RTCPeerConnectionState;
  /** Ends nothing */
  error: RoostError;
  /** The end; nothing comes after it */
  closed: RoomEnd;
}

export interface RoomEnd {
  /** A LeaveReason, or "replaced" */
  reason: string;
  /** Of the WebSocket */
  code?: number;
  /** Why it couldn't be joined again */
  error?: RoostError;
}

/** What is played together: camera and microphone, or a screen and its sound */
export type Group = "camera" | "screen";

/** One participant's session in one room. Its events are CustomEvents, whose details are those of `RoomEvents`. */
export class Room extends EventTarget {
  constructor(options: RoomOptions);
  /** The others, by id. */
  readonly participants: Map<string, Participant>;
  /** Oneself; null before `connect`. */
  readonly me: Participant | null;
  /** Whether the server records the room. */
  readonly isRecorded: boolean;
  /** Those who wait to be let in; hosts alone see them. */
  readonly waiting: Waiter[];
  /** For statistics; null before `connect`. */
  readonly connection: RTCPeerConnection | null;
  /** What is being sent. */
  readonly publications: Publication[];
  /** What plays in a section of the connection. */
  trackAt(mid: string): {track: Track, participant: Participant} | null;
  /** Joins. Where a host has to let one in it waits for that, and the event `waiting` says so. Throws RoostError. */
  connect(): Promise<Joined>;
  /** Sends tracks; those of one call are played together. Throws RoostError: where the server can't carry any of it. */
  publish(media: MediaStream | MediaStreamTrack[], sources?: {audio?: Source, video?: Source}, options?: {encrypted?: boolean}): Promise<Publication[]>;
  /** Stops sending; the MediaStreamTrack itself goes on. */
  unpublish(publications: Publication[]): Promise<void>;
  /** What everyone sees of a publication, such as whether an administrator has muted it. */
  trackOf(publication: Publication): Track | null;
  /** Mutes a publication or unmutes it; everyone sees that. Throws RoostError: `not-allowed`: an administrator's mute stands, and the publication stays muted. */
  mute(publication: Publication, muted: boolean): Promise<void>;
  /** Changes what others see of oneself. */
  update(change: {name?: string, metadata?: string, attributes?: Attributes}): Promise<void>;
  /** Says something to others. */
  sendData(payload: string, options?: {topic?: string, reliable?: boolean, destinations?: string[]}): Promise<void>;
  /** Raises one's hand, or lowers it. */
  raiseHand(raised?: boolean, participant?: string): Promise<void>;
  /** Lets one in who waits, or refuses it; for hosts. */
  admit(waiting: string, allowed?: boolean): Promise<void>;
  /** Asks for a track, as for one that had to wait. */
  subscribe(track: string, options?: {mid?: string, quality?: PictureQuality, maxWidth?: number, maxHeight?: number, maxFrameRate?: number, priority?: number}): Promise<void>;
  /** Gives a track up. */
  unsubscribe(track: string): Promise<void>;
  /** Says how tracks are shown, so that no more is sent than that; whether they play stays as it is. */
  view(tracks: ViewedTrack[]): Promise<void>;
  /** Asks what one gets of each track, and why; once a second at most. */
  explain(): Promise<{transport?: TransportReport, subscriptions: ExplainedStream[]}>;
  /** Looks for another way to the server, as after a change of network. */
  restartIce(): Promise<void>;
  /** Says goodbye. `closed` follows, if one was in. */
  leave(): void;
  addEventListener<Type extends keyof RoomEvents>(
    type: Type, listener: (event: CustomEvent<RoomEvents[Type]>) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<Type extends keyof RoomEvents>(
    type: Type, listener: (event: CustomEvent<RoomEvents[Type]>) => void, options?: boolean | EventListenerOptions): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | EventListenerOptions): void;
}

/** Something that a participant sends. Made by `publish` of roost.js. */
export class Publication {
  /** The track's id in the room; undefined while the server has none for it. */
  id: string | undefined;
  /** Whether its sender has muted it; an administrator's mute is in `Room.trackOf`. */
  muted: boolean;
  /** Whether its frames are encrypted end to end, by a transform of the page's on its sender. */
  encrypted: boolean;
  /** As in a Track; the next offer says it. */
  name: string | undefined;
  /** What is played together with it. */
  stream: MediaStream;
  /** As in a Track. */
  source: Source;
  /** As in a Track. */
  kind: "audio" | "video";
  /** Its section of the connection; in another session another one. */
  transceiver: RTCRtpTransceiver;
  private constructor();
  /** The name of its section; null before it was offered. */
  readonly mid: string | null;
  /** What is sent. */
  readonly track: MediaStreamTrack | null;
  /** How large the pictures of its encodings are: of frames that are encrypted end to end the server sees it nowhere else. */
  readonly layers: {rid?: string, width: number, height: number}[];
  /** Sends another track of the same kind from now on, or none, with no new offer. */
  replace(track: MediaStreamTrack | null): Promise<void>;
  /** Changes how it is encoded from now on, with no new offer, until it is published in another session. Throws DOMException: what `setParameters` throws. */
  encode(change: (encodings: RTCRtpEncodingParameters[]) => void): Promise<void>;
  /** Says how large its pictures are where the server has heard otherwise: by itself behind `replace` and `encode`, and by the page where the track's own size has changed, as by `applyConstraints`. One message is on its way at a time, the last of which says how it is. */
  sayLayers(): Promise<void>;
}

/** Why the server refused something, or why there is no server. */
export class RoostError extends Error {
  /** One of docs/signalling.md's, or `unreachable`, `closed`, `declined`. */
  code: string;
  /** Whether trying again can help. */
  retry: "never" | "now" | "after";
  constructor(code: string, message: string, retry?: "never" | "now" | "after");
}
