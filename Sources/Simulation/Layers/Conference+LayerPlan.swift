internal import Model
internal import Signalling
internal import SyntheticPeers

/// How a conference on narrow paths goes.
extension Conference {
  func makeLayerPlans(_ books: LayerBooks) {
    let plan = books.plan
    for video in plan.publishers { arrive(video, books) }
    for index in plan.viewers.indices {
      after(300_000_000 + Int64(index) * plan.arrivalInterval) { [unowned self] in
        arrive(viewer: index, books)
      }
    }
    guard plan.isRebuilt else { return }
    after(plan.span.wholeNanoseconds / 2) { [unowned self] in
      books.rebuiltAt.append(now)
      replaceAll()
    }
    after(plan.span.wholeNanoseconds / 2 + 15_000_000_000) { [unowned self] in
      books.rebuiltAt.append(now)
      replaceWorkers()
    }
  }

  private func arrive(_ video: LayeredVideo, _ books: LayerBooks) {
    var configuration = PeerConfiguration(number: participants.count)
    configuration.layers = video
    configuration.dialect.tellsArrivals = true
    if random.next() % 2 == 0 { configuration.dialect.shuffle(&random) }
    journal.count(video.encodings.count > 1 ? .simulcast : .spatialLayers)
    if video.isSimulcast, video.isBySSRC { journal.count(.simulcastBySSRC) }
    if video.isEncrypted { journal.count(.encryptedFrames) }
    for encoding in video.encodings {
      guard let absence = encoding.absences.first else { continue }
      journal.count(absence.upperBound == .max / 2 ? .encodingMissing : .encodingInterrupted)
    }
    for encoding in video.encodings {
      let absences = encoding.absences.map { "\($0.lowerBound / 1_000_000) to \($0.upperBound / 1_000_000)" }
      journal.trace(
        now,
        "\(configuration.number) sends \(encoding.rid), \(encoding.width) wide, \(encoding.rate / 1_000) kbit/s, but from \(absences) ms"
      )
    }
    if books.plan.isMeeting {
      configuration.talksInTurns = true
      configuration.audioReceivers = books.plan.publishers.count - 1
      configuration.videoReceivers = books.plan.publishers.count - 1
    }
    keepSlots(join(configuration, room: 0, up: .good, down: .good), books)
  }

  /// In a meeting there are more people than slots, which go to those who speak. They are pairs of sound and picture, as roost.js
  /// offers them.
  private func keepSlots(_ participant: Participant?, _ books: LayerBooks) {
    guard books.plan.isMeeting else { return }
    participant?.offering.keepsFewSlots = true
    participant?.offering.hasOwnCounts = true
  }

  /// Nanoseconds until a viewer's path begins to lose: handshakes over such paths are other conferences', and OpenSSL has the clock of
  /// the conference in `roost-simulate` alone.
  private static let connecting: Int64 = 3_000_000_000

  private func arrive(viewer index: Int, _ books: LayerBooks) {
    let viewer = books.plan.viewers[index]
    var configuration = PeerConfiguration(number: participants.count)
    configuration.publishesAudio = viewer.speaks
    configuration.talksInTurns = viewer.speaks
    configuration.publishesVideo = false
    configuration.audioReceivers = books.plan.publishers.count
    configuration.videoReceivers = books.plan.publishers.count
    configuration.dialect = viewer.dialect
    var lossless = viewer
    lossless.loss = 0
    guard
      let participant = join(
        configuration, room: 0, up: LinkConditions(delay: viewer.delay),
        down: conditions(lossless, viewer.capacities[0].rate))
    else { return }
    keepSlots(participant, books)
    if viewer.loss > 0 {
      after(Self.connecting) { [unowned self] in
        network.setConditions(
          participant.link, up: LinkConditions(delay: viewer.delay, loss: viewer.loss),
          down: conditions(viewer, viewer.capacities[0].rate))
      }
    }
    books.paths[participant.number, default: PathRecord()].capacities = [(now, viewer.capacities[0].rate)]
    for capacity in viewer.capacities.dropFirst() {
      after(capacity.from) { [unowned self] in
        journal.count(.pathChanged)
        journal.trace(now, "the path of \(participant.number) carries \(capacity.rate / 1_000) kbit/s")
        network.setConditions(
          participant.link, up: LinkConditions(delay: viewer.delay, loss: viewer.loss),
          down: conditions(viewer, capacity.rate))
        books.paths[participant.number]?.capacities.append((now, capacity.rate))
      }
    }
    if let span = viewer.viewsEvery { changeView(participant, span, books) }
    if options.traces { tracePath(participant, books) }
  }

  /// Once a second, what goes to a viewer.
  private func tracePath(_ viewer: Participant, _ books: LayerBooks) {
    guard let path = books.paths[viewer.number], let rate = path.capacities.last?.rate else { return }
    let place = Int(now.nanoseconds / PathRecord.tenth) - 10
    let sums = [\PathRecord.Tenth.bytes, \.audio, \.again, \.padding].map { value in
      max(0, path.sum(max(place, 0), 10) { $0[keyPath: value] }) * 8 / 1_000
    }
    journal.trace(
      now,
      "\(viewer.number) on \(rate / 1_000) kbit/s was sent \(sums[0]): sound \(sums[1]), again \(sums[2]), padding \(sums[3])"
    )
    after(1_000_000_000) { [unowned self] in if viewer.isPresent { tracePath(viewer, books) } }
  }

  private func conditions(_ viewer: LayerPlan.Viewer, _ rate: Int64) -> LinkConditions {
    var conditions = LinkConditions(delay: viewer.delay, loss: viewer.loss)
    conditions.rate = rate
    conditions.overhead = 28
    conditions.queue = max(6_000, Int(rate / 8 * viewer.queue / 1_000_000_000))
    return conditions
  }

  // MARK: - What viewers want

  private func changeView(_ viewer: Participant, _ span: ClosedRange<Int64>, _ books: LayerBooks) {
    after(Int64.random(in: span, using: &random)) { [unowned self] in
      guard viewer.isPresent, stoppedAt == .never else { return }
      let tracks: [ClientMessage.ViewedTrack]
      if books.plan.isMeeting, let planned = books.plan.viewer(viewer.number) {
        tracks = tiles(of: planned)
      } else {
        tracks = participants.filter { !$0.peer.layered.isEmpty }.compactMap { publisher in
          publisher.track(.video).map {
            ClientMessage.ViewedTrack(track: $0, picture: randomView(of: publisher))
          }
        }
      }
      if !tracks.isEmpty { say(tracks, by: viewer) }
      changeView(viewer, span, books)
    }
  }

  private func say(_ tracks: [ClientMessage.ViewedTrack], by viewer: Participant) {
    journal.count(.viewChanged)
    journal.trace(
      now, "\(viewer.number) wants \(tracks.map { "\($0.picture)" }.joined(separator: " and "))")
    ask(viewer, .view(tracks)) { _ in .view(ClientMessage.View(tracks: tracks)) }
  }

  /// In a meeting one of the pictures is large, and the others are small or out of sight.
  private func tiles(of viewer: LayerPlan.Viewer) -> [ClientMessage.ViewedTrack] {
    let shown = participants.filter { !$0.peer.layered.isEmpty }.compactMap { $0.track(.video) }
    guard !shown.isEmpty else { return [] }
    let large = Int(random.next() % UInt64(shown.count))
    return shown.enumerated().map { index, track in
      var picture = PictureWanted(quality: .low)
      if index == large {
        picture = PictureWanted(quality: viewer.isPhone ? .medium : .high, priority: 200)
      } else if one(in: 6) {
        picture.quality = .off
      }
      return ClientMessage.ViewedTrack(track: track, picture: picture)
    }
  }

  private func randomView(of publisher: Participant) -> PictureWanted {
    var picture = PictureWanted()
    switch random.next() % 8 {
    case 0, 1: picture.quality = .off
    case 2: picture.quality = .low
    case 3: picture.quality = .medium
    case 4 where publisher.peer.configuration.layers?.structure.codec == .vp8:
      picture.maxWidth = [320, 500, 640, 1_000][Int(random.next() % 4)]
      picture.maxHeight = picture.maxWidth.map { $0 * 9 / 16 }
    default: picture.quality = .high
    }
    if random.next() % 3 == 0 { picture.priority = Int(random.next() % 256) }
    return picture
  }

  /// What a viewer wants has come to the server.
  func noteView(_ tracks: [ClientMessage.ViewedTrack], by viewer: Participant) {
    guard let layers else { return }
    for entry in tracks {
      guard
        let publisher = participants.first(where: {
          $0.client.tracks.values.contains(entry.track) && $0.track(.video) == entry.track
        }), let index = publisher.media.receive.first(where: { $0.kind == .video })?.index
      else { continue }
      layers.note(entry.picture, of: TrackName(publisher.number, Int(index)), by: viewer.number, now: now)
    }
  }

  // MARK: - What publishers hear

  /// `publish` leaves for a publisher.
  func notePublish(_ message: ServerMessage.Publish, to publisher: Participant) {
    guard let layers, let source = publisher.peer.layered.first, publisher.track(.video) == message.track
    else {
      return
    }
    for layer in message.layers {
      layers.note(publish: source.log.trackName, rid: layer.rid, isActive: layer.active, now: now)
    }
  }

  /// It has come.
  func hear(_ message: ServerMessage.Publish, _ publisher: Participant) {
    guard let source = publisher.peer.layered.first, publisher.track(.video) == message.track else { return }
    for layer in message.layers {
      if source.track.video.obeysPublish {
        journal.count(layer.active ? .encodingWatched : .encodingUnwatched)
      }
      source.watch(rid: layer.rid, layer.active, now: now)
      journal.trace(
        now, "\(publisher.number) hears that \(layer.rid) is \(layer.active ? "watched" : "not watched")")
    }
  }
}
