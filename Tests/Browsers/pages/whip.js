"use strict";
// WHIP and WHEP in a page, evaluated behind signaller.js, pitch.js and client.js: publishes what the test adds, or plays what comes, by fetch
// from whichever origin the page has.

(() => {
  const fragment = "application/trickle-ice-sdpfrag";

  class Encoder extends window.RoostTestClient {
    /** Makes a session at an endpoint. */
    async open(endpoint, token) {
      this.token = token;
      await this.connection.setLocalDescription();
      const answer = await this.#ask("POST", endpoint, this.connection.localDescription.sdp, {
        "content-type": "application/sdp",
      });
      if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
      this.session = new URL(answer.headers.get("location"), endpoint).href;
      this.tag = answer.headers.get("etag");
      this.links = answer.headers.get("link");
      await this.connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
      return { session: this.session, tag: this.tag, sections: this.connection.getTransceivers().length };
    }

    /** Sends a candidate that has come meanwhile; answers with the status. */
    async trickle() {
      return (await this.#patch(this.tag, ["a=end-of-candidates"])).status;
    }

    /** Restarts ICE; answers with whether the tag is another one. */
    async restart() {
      const { connection } = this;
      const answered = connection.remoteDescription.sdp;
      connection.restartIce();
      await connection.setLocalDescription();
      const answer = await this.#patch("*", []);
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      const text = await answer.text();
      const value = (sdp, name) => sdp.match(new RegExp(`^a=${name}:(.*)\r$`, "m"))[1];
      const sdp = ["ice-ufrag", "ice-pwd"].reduce(
        (all, name) => all.replaceAll(`a=${name}:${value(answered, name)}`, `a=${name}:${value(text, name)}`), answered);
      await connection.setRemoteDescription({ type: "answer", sdp });
      const before = this.tag;
      this.tag = answer.headers.get("etag");
      return this.tag !== null && this.tag !== before;
    }

    /** Ends the session; answers with the status. */
    async end() {
      const { status } = await this.#ask("DELETE", this.session);
      this.close();
      return status;
    }

    /** Hertz of the loudest tone that comes. */
    pitch() {
      return window.pitchOf(this.element.srcObject);
    }

    #patch(tag, lines) {
      const { sdp } = this.connection.localDescription;
      const value = (name) => sdp.match(new RegExp(`^a=${name}:(.*)\r$`, "m"))[1];
      const head = ["mid", "ice-ufrag", "ice-pwd"].map((name) => `a=${name}:${value(name)}`);
      const body = [sdp.match(/^m=.*(?=\r$)/m)[0], ...head, ...lines].map((line) => `${line}\r\n`).join("");
      return this.#ask("PATCH", this.session, body, { "content-type": fragment, "if-match": tag });
    }

    #ask(method, url, body, headers = {}) {
      return fetch(url, { method, body, headers: { ...headers, authorization: `Bearer ${this.token}` } });
    }
  }

  window.RoostTestEncoder = Encoder;
})();
