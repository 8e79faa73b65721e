"""docs/roost.d.ts is TypeScript that a compiler takes, and says of roost.js what is so: what is right compiles, what is wrong doesn't."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each `@ts-expect-error` is an error itself where the line below it is none.
PROGRAM = """
import { Publication, Room, RoostError } from "./roost.js";
import type { Participant, RoomEvents, ServerMessage } from "./roost.js";

const room = new Room({ url: "https://relay.example", room: "demo", token: async () => "t", codecs: ["AV1"] });
room.addEventListener("media", ({ detail: { participant, group, stream, tracks } }) => {
  const words: string[] = [participant.name ?? participant.identity, group, stream.id, ...tracks.map(({ source }) => source)];
  document.title = words.join(" ");
});
room.addEventListener("closed", ({ detail }) => console.log(detail.reason, detail.error?.retry === "after"));
room.addEventListener("joined", ({ detail }: CustomEvent<RoomEvents["joined"]>) => detail.gone.map(({ id }) => id));
const joined = await room.connect();
const [publication]: Publication[] = await room.publish(await navigator.mediaDevices.getUserMedia({ audio: true }), { audio: "microphone" });
await room.mute(publication, true);
await publication.replace(null);
await publication.encode(([first]) => { first.maxBitrate = 150_000; });
await publication.sayLayers();
await room.view([{ track: "TR_1", quality: "low", maxWidth: 640 }]);
const mine: boolean | undefined = room.trackOf(publication)?.mutedByAdmin;
const people: Participant[] = [...room.participants.values(), joined.participant];
const message: ServerMessage = { type: "pong" };
const code: string = new RoostError("closed", "over").code;
room.leave();
console.log(mine, people, message, code);

// @ts-expect-error there is no such event with such a detail
room.addEventListener("nothing", ({ detail }: CustomEvent<number>) => detail.toFixed());
// @ts-expect-error a publication is made by publish alone
new Publication();
// @ts-expect-error there is no such source
await room.publish([], { audio: "loud" });
// @ts-expect-error a publication asks the server by itself
await publication.request({ type: "ping" });
// @ts-expect-error no quality is called so
await room.view([{ track: "TR_1", quality: "best" }]);
// @ts-expect-error a token is asked for
new Room({ url: "https://relay.example", room: "demo" });
// @ts-expect-error it says who is there, and is not for others to set
room.participants = new Map();
"""


class TypesTest(LimitedTest):
    def test_the_types_are_what_a_compiler_takes_and_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "roost.d.ts").write_text((ROOT / "docs/roost.d.ts").read_text(encoding="utf-8"))
            (place / "program.ts").write_text(PROGRAM)
            done = subprocess.run(
                ["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "node",
                 "--lib", "es2022,dom,dom.iterable", "program.ts"],
                cwd=place, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
