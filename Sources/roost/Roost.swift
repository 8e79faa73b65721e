internal import AccessTokens
internal import Configuration
internal import Crypto
internal import Foundation
internal import Operator
internal import Rooms

/// The program: reads its command line and hands over to one of its commands.
@main
struct Roost {
  static let version = "0.1.0"

  static func main() async {
    do {
      switch try Invocation(parsing: Array(CommandLine.arguments.dropFirst())) {
      case .help(let text): print(text, terminator: "")
      case .version: print("roost \(version)")
      case .config(let source, let defaults, let json):
        let configuration = defaults ? Configuration() : try load(source)
        print(json ? configuration.json + "\n" : configuration.json5, terminator: "")
        if !defaults, !source.development { try configuration.requireProductionKeys() }
      case .token(let request): print(try token(request))
      case .completion(let shell): print(shell.completion, terminator: "")
      case .load(let arguments): try LoadProgram.become(arguments)
      case .ask(let request, let command):
        let run = try OperatorRun(
          request, command: command, configuration: load(request.access.configuration),
          environment: ProcessInfo.processInfo.environment)
        exit(run.run())
      case .serve(let source):
        try await serve(
          load(source), audience: source.lan ? .network : source.development ? .thisMachine : .owners)
      }
    } catch let error as UsageError {
      stop("\(error)", UsageError.exitCode)
    } catch {
      stop("roost: \(error)", 1)
    }
  }

  private static func load(_ source: ConfigurationSource) throws -> Configuration {
    let environment = ProcessInfo.processInfo.environment
    return try source.load(environment: environment, read: text(of:)) {
      Data(Random.key(32)).base64EncodedString()
    }
  }

  /// A file's text.
  static func text(of path: String) throws -> String {
    do {
      return try String(contentsOfFile: path, encoding: .utf8)
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      throw FileProblem(description: "no such file")
    } catch let error as CocoaError where error.code == .fileReadInapplicableStringEncoding {
      throw FileProblem(description: "not valid UTF-8")
    } catch let error as CocoaError where error.code == .fileReadCorruptFile {
      throw FileProblem(description: "not valid UTF-8")
    } catch let error as CocoaError {
      let system = (error.underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
      throw FileProblem(description: system ?? error.localizedDescription)
    }
  }

  /// A page's address; one without a path is that of the root.
  private static func withPath(_ page: String) -> String {
    var page = page
    let host = page.firstRange(of: "://")?.upperBound ?? page.startIndex
    let end = page[host...].firstIndex { "/?#".contains($0) } ?? page.endIndex
    if end == page.endIndex || page[end] != "/" { page.insert("/", at: end) }
    return page
  }

  private static func token(_ request: TokenRequest) throws -> String {
    let configuration = try load(request.configuration)
    let (key, secret) = try request.keyPair(in: configuration)
    let now = Int(Date().timeIntervalSince1970)
    let token = AccessToken(
      apiKey: key, identity: request.identity, expires: now + request.validFor, notBefore: now, issuedAt: now,
      name: request.name, metadata: request.metadata, grants: Grants(request)
    ).signed(secret: secret)
    // Behind the # it stays in the browser.
    let link = request.link.map { withPath($0) + "#token=" + token }
    guard request.json else { return link ?? token }
    var object: [String: StrictJSON] = ["token": .string(token)]
    if let link { object["link"] = .string(link) }
    return StrictJSON.object(object).text
  }

  private static func stop(_ message: String, _ code: Int32) -> Never {
    report(message)
    exit(code)
  }

  static func report(_ message: String) { FileHandle.standardError.write(Data((message + "\n").utf8)) }

  private struct FileProblem: Error, CustomStringConvertible { let description: String }
}

extension Grants {
  fileprivate init(_ request: TokenRequest) {
    self.init()
    room = request.room
    roomJoin = request.identity != nil && !request.isOfPerson
    canPublish = roomJoin && request.publish
    canSubscribe = roomJoin && request.subscribe || request.admin && request.thumbnails
    canPublishData = canPublish && request.data
    if !request.sources.isEmpty { canPublishSources = Set(request.sources.compactMap(TrackSource.init)) }
    canUpdateOwnMetadata = request.updateMetadata
    hidden = request.hidden
    roomCreate = request.create
    roomList = request.list
    roomAdmin = request.admin
  }
}
