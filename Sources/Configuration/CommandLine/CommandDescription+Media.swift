/// The commands that are in a room themselves.
extension CommandDescription {
  private static let joining = [
    Flag(name: "room", value: "ROOM", help: "The room's name."),
    Flag(
      name: "identity", value: "ID",
      help: "Who it is in the room; made up unless given. A --token has one of its own."),
    Flag(
      name: "media", value: "ADDRESS:PORT",
      help: "Where media goes, where the server can't know: behind a forwarded port, for instance."),
  ]

  static let publish = CommandDescription(
    name: "publish", summary: "publish a file into a room, as a participant who sends it in real time",
    arguments: [
      Argument(name: "FILE", help: "IVF, Opus in Ogg, WebM or Matroska; - is standard input.", kind: .file)
    ],
    flags: joining + [
      Flag(name: "loop", value: nil, help: "Begin over at its end, until this is interrupted."),
      Flag(name: "json", value: nil, help: "Print at the end what was sent, as JSON on one line."),
    ] + accessFlags,
    examples: [
      ("roost publish clip.webm --room demo --dev", "a picture and its sound, once"),
      ("roost publish testcard.ivf --room demo --identity testcard --loop --dev", "until Ctrl-C"),
      (
        "ffmpeg -re -i clip.mp4 -c:v libvpx -b:v 1M -g 50 -c:a libopus -f webm - | roost publish - --room demo --dev",
        "what another program encodes"
      ),
    ],
    takesOptions: false,
    notes: """
      Nothing is transcoded: VP8, VP9, AV1, H.264, Opus, PCMU, PCMA and G.722 go out as the file
      has them, the first picture and the first sound of it. Who comes later sees the picture from
      the file's next key frame on, because a file can't make one when asked: have one every two
      seconds (ffmpeg: -g 50 at 25 pictures a second). Encode H.264 without B frames (-bf 0),
      which browsers show out of order. Interrupted by Ctrl-C it leaves, and ends with 0.


      """ + exitCodes)

  static let record = CommandDescription(
    name: "record", summary: "record a room's tracks into files, as a hidden participant",
    flags: joining + [
      Flag(
        name: "out", value: "DIR",
        help: "The folder for the files, a new one; else one that is called as the recording.", kind: .file),
      Flag(name: "participant", value: "ID", help: "Record this participant's tracks alone."),
      Flag(
        name: "duration", value: "TIME", help: "End after 90s, 30m or 2h; else by Ctrl-C or with the room."),
      Flag(name: "webm", value: nil, help: "Write WebM and Matroska rather than IVF and Ogg."),
      Flag(name: "json", value: nil, help: "Print the manifest at the end, as JSON on one line."),
    ] + accessFlags,
    examples: [
      ("roost record --room demo --dev", "into a folder beside you, until Ctrl-C"),
      ("roost record --room demo --out take1 --webm --duration 30m --dev", "half an hour, as WebM"),
      (
        "ffmpeg -i take1/TR_k3XbQ9uTzLw2.1.webm -i take1/TR_Zp0aVq81LmNs.1.webm -c copy ada.mkv",
        "sound and picture together"
      ),
    ],
    takesOptions: false,
    notes: """
      A file for each track, as its publisher encoded it: IVF and Ogg, or WebM with --webm, and
      Matroska for what these don't have; manifest.json says whose they are and when each begins
      (docs/recording.md). Tracks that are encrypted end to end are noted there and not written.
      With a key its token hides it from the others; a --token decides that itself.


      """ + exitCodes)
}
