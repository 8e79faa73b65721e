"use strict";
// A participant of a room whose connection may use nothing but a TURN server's relay. Picture and tone are those
// of direct.js.

window.relayed = {
  iceServers: [],

  /** Joins, sends picture and sound, and offers a pair of sections to receive in. */
  async join({ url, room, token, transport }) {
    const signaller = new Signaller();
    const joined = await signaller.join(url, room, token);
    this.iceServers = joined.iceServers;
    const iceServers = joined.iceServers
      .map((server) => ({ ...server, urls: server.urls.filter((each) => each.endsWith(`=${transport}`)) }));

    const made = new RTCPeerConnection({ iceServers, iceTransportPolicy: "relay", bundlePolicy: "max-bundle" });
    window.peerConnection = made;
    const remote = new MediaStream();
    made.ontrack = ({ track }) => {
      remote.addTrack(track);
      document.getElementById("remote").srcObject = remote;
    };
    const stream = new MediaStream([picture(), await tone()]);
    for (const track of stream.getTracks()) made.addTransceiver(track, { direction: "sendonly", streams: [stream] });
    for (const kind of ["audio", "video"]) made.addTransceiver(kind, { direction: "recvonly" });
    await made.setLocalDescription();
    // The server finds its clients by their checks, so nothing has to be gathered before.
    const answer = await signaller.offer(made);
    await made.setRemoteDescription({ type: "answer", sdp: answer.sdp });
  },

  /** The addresses that `server` gives: those of its relay, or none. */
  async candidates(server) {
    const made = new RTCPeerConnection({ iceServers: [server], iceTransportPolicy: "relay" });
    const found = [];
    made.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) found.push(candidate.candidate);
    };
    made.createDataChannel("x");
    await made.setLocalDescription();
    await gathered(made);
    made.close();
    return found;
  },
};
