extension SessionWanted {
  init(_ flags: ParsedFlags) throws(UsageError) {
    guard let room = flags["room"] else { throw flags.wrong("--room is missing: which room is it?") }
    for name in ["room", "identity"] where flags[name] == "" {
      throw flags.wrong("--\(name) \"\": expected at least one character")
    }
    self.init(room: room)
    identity = flags["identity"]
    guard identity == nil || flags["token"] == nil else {
      throw flags.wrong("--identity and --token contradict each other: a token has its identity in it")
    }
    guard let text = flags["media"] else { return }
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (1...65_535).contains(port), colon != text.startIndex
    else { throw flags.wrong("--media \(text): expected an address and a port, such as 192.0.2.7:7881") }
    var address = text[..<colon]
    if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
    media = MediaPlace(address: String(address), port: port)
  }
}

extension PublishWanted {
  init(_ flags: ParsedFlags) throws(UsageError) {
    self.init(file: flags.arguments[0], try SessionWanted(flags))
    loops = flags.has("loop")
    guard !loops || file != "-" else {
      throw flags.wrong("--loop: standard input can't begin over; give the file's name")
    }
  }
}

extension RecordWanted {
  init(_ flags: ParsedFlags) throws(UsageError) {
    self.init(try SessionWanted(flags))
    folder = flags["out"]
    participant = flags["participant"]
    isWebM = flags.has("webm")
    seconds = try flags.time("duration", least: 1, such: "90s, 30m or 2h")
    for (name, value) in [("out", folder), ("participant", participant)] where value == "" {
      throw flags.wrong("--\(name) \"\": expected at least one character")
    }
  }
}
