import AccessTokens
import CallDesk
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("Which tokens open what of calls, as openapi.json says", .timeLimit(.minutes(2)))
struct CallAccessTests {
  /// Whose a token is.
  private enum Token: String, CaseIterable {
    case person
    /// The server's, of the very call.
    case call
    /// Of another call of the same person.
    case otherCall
    /// With `roomAdmin` for the call's room, and for every room.
    case admin
    case adminOfAll
    /// The app's, by which the person may join the call's room, and another room.
    case room
    case otherRoom
  }

  /// Those that a description names.
  private static func tokens(in description: String) throws -> Set<Token> {
    let sentence = try #require(description.split(separator: ".").first)
    var found: Set<Token> = []
    for part in sentence.replacing("Needs a token ", with: "").split(separator: ", or ") {
      switch part {
      case "of the person", "of that person": found.insert(.person)
      case "of this call": found.insert(.call)
      case "with `roomAdmin` for its room", "with `roomAdmin` for the call's room":
        found.formUnion([.admin, .adminOfAll])
      case "with `roomAdmin` for every room": found.insert(.adminOfAll)
      default: Issue.record("no one has a token \(part)")
      }
    }
    return found
  }

  /// Asks for an operation in a way that changes nothing of what others ask for: of a call of its own, and mostly with what is refused
  /// once the token is found good.
  private func ask(
    _ operation: CallOperation, by kind: Token, _ number: Int, _ calls: CallHouse
  ) async throws -> House.Answer {
    let (person, callee) = ("ada\(number)", "bob\(number)")
    let (id, started) = await calls.start(person, callee)
    let room = try #require((started["call"] as? NSDictionary)?["room"] as? String)
    let token: String
    switch kind {
    case .person: token = House.token(person)
    case .call: token = try #require(started["token"] as? String)
    case .otherCall:
      token = try #require(await calls.start(person, "eve\(number)").answer["token"] as? String)
    case .admin:
      token = House.token {
        $0.room = room
        $0.roomAdmin = true
      }
    case .adminOfAll:
      token = House.token {
        $0.room = Grants.everyRoom
        $0.roomAdmin = true
      }
    case .room: token = House.token(person) { $0 = .join(room) }
    case .otherRoom: token = House.token(person) { $0 = .join("demo") }
    }
    let path = operation.path.replacing("{call}", with: id).replacing("{person}", with: person)
      .replacing("{device}", with: "phone").replacing("{session}", with: UUID().uuidString)
    let hasBody = [.post, .put, .patch].contains(operation.method)
    let headers =
      operation.method == .post ? [("idempotency-key", String(repeating: "k", count: 129))] : []
    return await calls.house.ask(
      operation.method, path, hasBody ? #"{"unknown":1}"# : "", token: token, headers: headers)
  }

  @Test(arguments: StoreKind.allCases)
  func `each operation is open to the tokens that its description names, and to no others`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind, isDirectoryOpen: true)
    let document = await calls.house.ask(.get, "/openapi.json", token: nil)
    let paths = try #require(document["paths"] as? [String: [String: Any]])
    var number = 0
    for operation in CallOperation.all {
      let name = "\(operation.method.rawValue) \(operation.path)"
      let described = paths[operation.path]?[operation.method.rawValue.lowercased()] as? [String: Any]
      let named = try Self.tokens(in: try #require(described?["description"] as? String, "\(name)"))
      for token in Token.allCases {
        number += 1
        let answer = try await ask(operation, by: token, number, calls)
        let isOpen = answer.status != 403 || answer.problem != "not-allowed"
        #expect(
          isOpen == named.contains(token), "\(name), \(token.rawValue): \(answer.status) \(answer.text)")
      }
    }
    #expect(number == CallOperation.all.count * Token.allCases.count)
  }
}
