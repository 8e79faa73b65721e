"use strict";
// Recipes for the offers in Tests/Fixtures/sdp: what a browser is asked for, so that it makes such an offer of its own.

(() => {
  const simulcast = [
    { rid: "q", scaleResolutionDownBy: 4 },
    { rid: "h", scaleResolutionDownBy: 2 },
    { rid: "f" },
  ];

  function pool(client) {
    for (let index = 0; index < 3; index += 1) client.add("audio", "recvonly");
    for (let index = 0; index < 6; index += 1) client.add("video", "recvonly");
  }

  const recipes = {
    "audio-only": (client) => client.add("audio", "sendonly"),
    "audio-video-sendonly": (client) => {
      client.add("audio", "sendonly");
      client.add("video", "sendonly");
    },
    "audio-video-sendrecv": (client) => {
      client.add("audio", "sendrecv");
      client.add("video", "sendrecv");
    },
    "camera-and-screen": (client) => {
      client.add("audio", "sendonly");
      client.add("video", "sendonly", { encodings: simulcast });
      client.add("video", "sendonly");
    },
    conference: (client) => {
      client.add("audio", "sendonly");
      client.add("video", "sendonly", { encodings: simulcast });
      pool(client);
      client.connection.createDataChannel("data");
    },
    datachannel: (client) => client.connection.createDataChannel("data"),
    "mdns-recvonly": (client) => {
      client.add("audio", "recvonly");
      client.add("video", "recvonly");
    },
    "recvonly-pool": pool,
    "trickle-no-candidates": (client) => recipes["audio-video-sendrecv"](client),
    "whep-recvonly": (client) => {
      client.add("video", "recvonly");
      client.add("audio", "recvonly");
    },
    simulcast: (client) => {
      client.add("audio", "sendonly");
      client.add("video", "sendonly", { encodings: simulcast });
    },
  };
  const order = ["vp8", "vp9", "h264", "av1"];
  for (const codec of order) {
    recipes[`only-${codec}`] = (client) => {
      client.add("audio", "sendrecv");
      client.add("video", "sendrecv", { only: [codec] });
    };
    recipes[`prefer-${codec}`] = (client) => {
      client.add("audio", "sendrecv");
      client.add("video", "sendrecv", { first: [codec, ...order] });
    };
    recipes[`simulcast-${codec}`] = (client) => {
      client.add("audio", "sendonly");
      client.add("video", "sendonly", { encodings: simulcast, only: [codec] });
    };
    recipes[`svc-${codec}`] = (client) =>
      client.add("video", "sendonly", { encodings: [{ scalabilityMode: "L3T3_KEY" }], first: [codec, ...order] });
  }

  let count = 0;
  window.offers = {
    async run(name) {
      const client = new window.RoostTestClient();
      count += 1;
      try {
        await client.join(`offer-${name}-${count}`, "offerer");
        recipes[name](client);
        return await client.negotiate({ gathers: name !== "trickle-no-candidates" });
      } finally {
        client.close();
      }
    },
  };
})();
