internal import CallDesk
internal import Calls
internal import Configuration
internal import Crypto
internal import Engine
internal import Gateway
internal import HTTPClient
internal import KeyDirectory
internal import Logging
internal import Model
internal import Push
internal import Rooms
internal import Storage

/// Calls on the server's rooms and records, and the phones that they wake, as the configuration says.
struct CallService {
  let desk: CallDesk
  let rooms: CallRooms
  let pushes: CallPushes
  private let running: [Task<Void, Never>]
  /// Time that passes for calls, and media that comes and goes.
  private let passing: Task<Void, Never>

  /// Goes on with the calls of the process before; before anyone connects.
  init(_ configuration: Configuration, _ media: MediaServer, _ store: Store, log: Log) async throws {
    let clock = media.engine.clock
    let wall: @Sendable () -> WallTime = { [rooms = media.rooms] in rooms.wallTime }
    var terms = CallPushes.Terms(keys: configuration.keys, now: MediaServer.wallSeconds)
    terms.url = configuration.http.url.isEmpty ? nil : configuration.http.url
    terms.showsCallerNames = configuration.push.callerName
    let services = try Self.services(configuration)
    let pushes = CallPushes(
      to: services, terms: terms,
      clocks: PushClocks(wall: wall, instant: { clock.now }), log: log)
    let rooms = CallRooms(rooms: media.rooms, pushes: pushes)
    let keys = try await KeyDirectory.open(
      in: store, signingKey: configuration.calls.logKey.isEmpty ? nil : Self.text(configuration.calls.logKey))
    let desk = CallDesk(
      store: store, keys: keys, terms: Self.terms(configuration, services), outlet: rooms, log: log,
      random: { (Random.integer(UInt64.self), Random.integer(UInt64.self)) },
      clock: { CallTime(wall: wall().milliseconds, steady: clock.now.nanoseconds / 1_000_000) })
    let open: CallDesk.Recovered
    let rings: [CallDesk.RunningRing]
    let ended: [CallDesk.EndedRing]
    do throws(CallProblem) {
      // What recovering ends by itself wakes no one.
      ended = try await desk.endedRings()
      open = try await desk.recover()
      rings = try await desk.runningRings()
    } catch {
      throw StartProblem(description: "the calls of before cannot be read from the database")
    }
    await rooms.begin(desk, open)
    pushes.restore(rings, ended: ended)
    if open.calls > 0 { log.info("calls go on", ["count": "\(open.calls)"]) }
    passing = Task { await desk.run() }
    running = [
      Task { await desk.keepTidy() }, Task { await rooms.run() },
      Task { await rooms.keepTidy() },
      Task { await pushes.run(desk) },
    ]
    (self.desk, self.rooms, self.pushes) = (desk, rooms, pushes)
  }

  /// From now on no time passes for calls, and no media is missed: rooms are about to end, which ends no call. They go on at the next
  /// start.
  func freeze() async {
    passing.cancel()
    await passing.value
  }

  /// Nothing more is pushed.
  func stop() async {
    await freeze()
    for task in running { task.cancel() }
    await pushes.stop()
    for task in running { await task.value }
  }

  private static func terms(
    _ configuration: Configuration, _ services: PushDesk.Services
  ) -> CallDeskTerms {
    let calls = configuration.calls
    var terms = CallDeskTerms()
    terms.book.call.grace = Int64(configuration.reconnect.seconds) * 1_000
    terms.book.call.ring = Int64(calls.ringTime) * 1_000
    terms.book.call.alone = Int64(calls.aloneTimeout) * 1_000
    terms.book.call.people = calls.people
    terms.book.ringsBusy = calls.busy == .ring
    terms.rates.starts = calls.startsPerMinute
    terms.rates.rings = calls.ringsPerMinute
    terms.changesPerMinute = calls.changesPerMinute
    terms.historyDays = calls.historyDays
    terms.deliveries = Int64(calls.deliveryHours) * 3_600_000
    terms.afterCall = Int64(calls.signalSeconds) * 1_000
    if services.apns == nil { terms.wakes.subtract([.apnsVoIP, .apnsAlert]) }
    if services.webhook == nil { terms.wakes.remove(.webhook) }
    return terms
  }

  /// - Returns: nil: everyone may call everyone.
  static func authorizer(_ configuration: Configuration) throws -> CallAuthorizer? {
    guard let target = try configuration.authorizingTarget() else { return nil }
    guard let url = HTTPURL(target.url) else { throw StartProblem(description: "calls.authorize is no URL") }
    let authorities = configuration.push.authorities
    return CallAuthorizer(
      asking: url, key: target.key, secret: configuration.keys[target.key] ?? "",
      trust: authorities.isEmpty ? .system : .file(authorities), now: MediaServer.wallSeconds)
  }

  // MARK: - Push services

  private static func services(_ configuration: Configuration) throws -> PushDesk.Services {
    let push = configuration.push
    let trust: HTTPClient.Trust = push.authorities.isEmpty ? .system : .file(push.authorities)
    if !push.authorities.isEmpty { _ = try text(push.authorities) }
    var services = PushDesk.Services()
    if !push.apns.key.isEmpty {
      let pem = try text(push.apns.key)
      let key: SigningKey
      do throws(SigningKeyError) { key = try SigningKey(pem: pem) } catch {
        throw StartProblem(description: "\(push.apns.key): \(error)")
      }
      var terms = APNsTerms(key: key, keyID: push.apns.keyId, teamID: push.apns.teamId)
      terms.addresses[.production] = try url(push.apns.productionURL, of: "push.apns.productionURL")
      terms.addresses[.sandbox] = try url(push.apns.sandboxURL, of: "push.apns.sandboxURL")
      terms.trust = trust
      services.apns = terms
    }
    if let target = try configuration.pushTarget() {
      services.webhook = PushWebhookTerms(
        url: try url(target.url, of: "push.webhook"), key: target.key,
        secret: configuration.keys[target.key] ?? "")
      services.webhook?.trust = trust
    }
    return services
  }

  private static func url(_ text: String, of option: String) throws -> HTTPURL {
    guard let url = HTTPURL(text) else {
      throw StartProblem(description: "\(option) is no URL that can be asked: \(text)")
    }
    return url
  }

  private static func text(_ path: String) throws -> String {
    do { return try Roost.text(of: path) } catch {
      throw StartProblem(description: "\(path): cannot be read: \(error)")
    }
  }
}
