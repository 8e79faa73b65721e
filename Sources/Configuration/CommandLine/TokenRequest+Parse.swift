#if PLANTED_DEFECTS
  internal import Model
#endif

extension TokenRequest {
  init(_ flags: ParsedFlags) throws(UsageError) {
    self.init()
    configuration = flags.source
    keyChoice = flags.keyChoice
    room = flags["room"]
    identity = flags["identity"]
    isOfPerson = flags.has("person")
    name = flags["name"]
    metadata = flags["metadata"]
    publish = !flags.has("no-publish")
    subscribe = !flags.has("no-subscribe")
    data = !flags.has("no-data")
    sources = try flags.words("sources", "source", among: CommandDescription.sources)
    updateMetadata = flags.has("update-metadata")
    hidden = flags.has("hidden")
    create = flags.has("create")
    list = flags.has("list")
    admin = flags.has("admin")
    thumbnails = flags.has("thumbnails")
    link = flags["link"]
    json = flags.has("json")
    if let seconds = try flags.time("valid-for", least: 1, such: "90s, 30m, 6h or 7d") { validFor = seconds }
    for (name, value) in [("room", room), ("identity", identity)] where value == "" {
      throw flags.wrong("--\(name) \"\": expected at least one character")
    }
    if isOfPerson {
      guard identity != nil, room == nil else {
        throw flags.wrong("--person needs the --identity of the person, and no --room")
      }
    } else if identity != nil, room == nil {
      throw flags.wrong("--identity requires --room, or --person for calls")
    }
    if admin, room == nil {
      throw flags.wrong("--admin needs the --room to administer; --room '*' is every room")
    }
    if thumbnails, !admin { throw flags.wrong("--thumbnails is for those who --admin a room") }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.everyRoomJoined) { return }
    #endif
    if identity != nil, room == "*" {
      throw flags.wrong("--room '*' is for --admin; no room has that name to be joined")
    }
    guard identity != nil || create || list || admin else {
      throw flags.wrong("nothing to allow: give --room and --identity, or --create, --list or --admin")
    }
  }
}
