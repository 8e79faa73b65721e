/**
 * Types that roost.js and what it is made of name in their comments. No code needs them, so no page fetches this; roost.d.ts is made
 * of it (scripts/make-types).
 * @module types
 */

/**
 * @typedef {import("./publication.js").Publication} Publication
 * @typedef {import("./playback.js").Group} Group
 * @typedef {import("./signalling.js").RoostError} RoostError
 */

/**
 * @typedef {object} RoomOptions
 * @property {string} url where the server is, as in "https://relay.example"
 * @property {string} room the room's name
 * @property {string | (() => string | Promise<string>)} token an access token for it, or who gives one whenever it is joined: a
 *   string serves as long as it is valid, and is renewed by the server while in the room
 * @property {number} [patience] seconds for which a server is looked for that has gone; 300 unless given
 * @property {number} [slots] pairs that are offered at first; 4 unless given
 * @property {string[]} [codecs] for pictures, better than the browser's first, the best first, as in ["AV1", "VP9"]: one is used
 *   while everyone in the room takes it; VP9 unless given, where this machine encodes it without effort
 * @property {RTCConfiguration} [configuration] joined with what the server says
 */

/**
 * @typedef {object} Media what plays of a participant now; no `tracks` when nothing does
 * @property {Participant} participant
 * @property {Group} group
 * @property {MediaStream} stream the same one for as long as anything of the group plays
 * @property {Track[]} tracks
 */

/**
 * @typedef {object} RoomEvents what a room's events have as their `detail`
 * @property {Waiting} waiting a host has to let one in: until then there is no room, and `connect` goes on waiting
 * @property {Joined & {gone: Participant[]}} joined the state on arrival, also after a lost session; `gone` were there before
 * @property {"connected" | "reconnecting"} state whether the server hears and answers; media flows meanwhile
 * @property {RoomEvent} event what happens in the room afterwards
 * @property {KeptMessage[]} history messages of before one came, the oldest first, where the room keeps them; right behind `joined`
 * @property {Media} media what plays of a participant changes
 * @property {Speaker[]} speakers who speaks, the loudest first
 * @property {ConnectionQuality} quality how well a participant's media arrives
 * @property {Stream} stream why a track comes or doesn't
 * @property {Data} data a message of another participant
 * @property {Token} token the server has renewed the access token, for applications that keep it
 * @property {Draining} draining the server is about to stop
 * @property {RTCPeerConnectionState} connection the state of the connection for media
 * @property {RoostError} error ends nothing
 * @property {RoomEnd} closed the end; nothing comes after it
 */

/**
 * @typedef {object} RoomEnd
 * @property {string} reason a LeaveReason, or "replaced"
 * @property {number} [code] of the WebSocket
 * @property {RoostError} [error] why it couldn't be joined again
 */

/**
 * @typedef {object} Track what a participant sends
 * @property {string} id
 * @property {"audio" | "video"} kind
 * @property {"camera" | "microphone" | "screen_share" | "screen_share_audio" | "unknown"} source
 * @property {string} [name]
 * @property {boolean} muted no one gets it: its publisher or an administrator has muted it
 * @property {boolean} mutedByAdmin an administrator's mute stands, which the publisher can't lift
 * @property {boolean} encrypted its frames are encrypted end to end
 *
 * @typedef {object} Participant
 * @property {string} id of this session; a participant that joins again has another
 * @property {string} identity
 * @property {string} [name]
 * @property {string} [metadata]
 * @property {Object<string, string>} [attributes]
 * @property {Permissions} permissions
 * @property {string} [hand] since when its hand is raised, RFC 3339
 * @property {Track[]} tracks
 *
 * @typedef {object} Waiter who waits to be let in
 * @property {string} id
 * @property {string} identity
 * @property {string} [name]
 * @property {string} since RFC 3339
 * @property {string} until when it is given up, RFC 3339
 *
 * @typedef {object} Permissions what a participant may do, now
 * @property {boolean} canPublish
 * @property {string[]} [canPublishSources] every source unless given
 * @property {boolean} canSubscribe
 * @property {boolean} canPublishData
 * @property {boolean} canUpdateOwnMetadata
 */

export {};
