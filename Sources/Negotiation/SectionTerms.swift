import Model
import Wire

/// What a section of the far end comes down to, laid over what we can do.
///
/// The same reading serves for a section of an offer and for one of an answer.
struct SectionTerms: Equatable {
  /// A header extension that is used in at least one direction.
  struct Extension: Equatable {
    var kind: HeaderExtension
    var id: UInt8
    var receives: Bool
    var sends: Bool
    /// The far end gave a direction, so ours has to be given too.
    var isDirected: Bool
  }

  var kind: MediaKind
  var receives: Bool
  var sends: Bool
  /// The far end takes both forms of header extensions, mixed.
  private(set) var allowsMixedExtensions: Bool
  /// Feedback as the far end has it; `transportCC` holds where the extension is used as well.
  private var codecs: [NegotiatedCodec]
  private(set) var extensions: [Extension] = []
  /// What is sent adapts to feedback about arrivals.
  private let readsFeedback: Bool
  /// The encodings of a simulcast that we take, as listed; empty where there is none.
  private(set) var rids: [RIDAttribute] = []

  /// - Parameters:
  ///   - direction: ours.
  ///   - ids: those that earlier sections have fixed.
  init(
    of section: MediaDescription, _ attributes: SharedAttributes, direction: MediaDirection,
    codecs: SectionCodecs, policy: NegotiationPolicy, ids: ExtensionIDs, mayBeSimulcast: Bool
  ) throws(DeclineReason) {
    if let reason = codecs.refusal { throw reason }
    let kind = codecs.kind
    self.kind = kind
    receives = direction.receives
    sends = direction.sends
    self.codecs = codecs.found
    readsFeedback = policy.usesTransportFeedback
    allowsMixedExtensions = attributes.allowsMixedExtensions
    guard ids.agree(with: attributes.extensions) else { throw .extensionConflict }

    let offersFeedback = codecs.found.contains(where: \.transportCC)
    // Its estimate is made of when packets left, unless it makes its own of when they arrived.
    let isEstimated =
      kind == .video && codecs.found.contains(where: \.remb)
      && !(offersFeedback
        && attributes.extensions.contains { $0.uri == HeaderExtension.transportSequence.uri })
    let rids = mayBeSimulcast && receives ? section.simulcastEncodings(codecs.found) : []
    for offered in attributes.extensions {
      guard let known = HeaderExtension(uri: offered.uri), let id = UInt8(exactly: offered.id),
        ids.takes(known, id), !extensions.contains(where: { $0.kind == known })
      else { continue }
      let way = offered.direction ?? .sendrecv
      let isWanted: (receive: Bool, send: Bool) =
        switch known {
        // One byte of header holds a MID of at most 16 (RFC 8285 §4.2).
        case .mid: (true, (section.mid?.utf8.count ?? 0) <= 16)
        case .transportSequence: (offersFeedback, offersFeedback && policy.usesTransportFeedback)
        // We send none. Chromium offers a section that is added later only what was agreed on for those before it, and
        // then refuses its own offer of a simulcast.
        case .rid: (!rids.isEmpty, kind == .video)
        case .repairedRid:
          (!rids.isEmpty && codecs.found.contains { $0.rtxPayloadType != nil }, kind == .video)
        // Only who asks for it looks at it.
        case .absoluteSendTime: (isEstimated || policy.offeredExtensions.contains(known), true)
        // About what a publisher sends; subscribers get what the server chooses.
        case .videoLayersAllocation: (known.suits(kind), false)
        case .audioLevel, .dependencyDescriptor, .colorSpace, .playoutDelay, .absoluteCaptureTime:
          (known.suits(kind), known.suits(kind))
        }
      let item = Extension(
        kind: known, id: id, receives: receives && way.sends && isWanted.receive,
        // The ids of the one-byte form end at 14.
        sends: sends && way.receives && isWanted.send && (id <= 14 || allowsMixedExtensions),
        isDirected: offered.direction != nil)
      if item.receives || item.sends { extensions.append(item) }
    }
    // Without its header extension no encoding can be distinguished from the others.
    guard has(.rid, \.receives) else {
      extensions.removeAll { $0.kind == .repairedRid && $0.receives }
      return
    }
    self.rids = rids
  }

  var receiveCodecs: [NegotiatedCodec] { codecs(receives: receives, sends: false) }
  var sendCodecs: [NegotiatedCodec] { codecs(receives: false, sends: sends) }
  /// As our answer lists them.
  var announcedCodecs: [NegotiatedCodec] { codecs(receives: receives, sends: sends) }

  var receiveExtensions: HeaderExtensionMap { map(\.receives) }
  var sendExtensions: HeaderExtensionMap { map(\.sends) }

  /// The extensions as our answer lists them.
  var announcedExtensions: [ExtensionAttribute] {
    extensions.map { item in
      let direction = MediaDirection(sends: item.sends, receives: item.receives)
      let isNarrower = direction != MediaDirection(sends: sends, receives: receives)
      return ExtensionAttribute(
        id: UInt16(item.id), direction: item.isDirected || isNarrower ? direction : nil, uri: item.kind.uri)
    }
  }

  /// Leaves of each codec what our own offer had of it.
  /// - Returns: a payload type that the offer did not have for its codec.
  mutating func restrict(to offered: [NegotiatedCodec]) -> UInt8? {
    for index in codecs.indices {
      guard let ours = offered.first(where: { $0.format == codecs[index].format }),
        ours.payloadType == codecs[index].payloadType
      else { return codecs[index].payloadType }
      if let rtx = codecs[index].rtxPayloadType, rtx != ours.rtxPayloadType { return rtx }
      codecs[index].nack = codecs[index].nack && ours.nack
      codecs[index].pli = codecs[index].pli && ours.pli
      codecs[index].fir = codecs[index].fir && ours.fir
      codecs[index].transportCC = codecs[index].transportCC && ours.transportCC
      codecs[index].remb = codecs[index].remb && ours.remb
      codecs[index].ccfb = codecs[index].ccfb && ours.ccfb
    }
    return nil
  }

  private func has(_ kind: HeaderExtension, _ way: KeyPath<Extension, Bool>) -> Bool {
    extensions.contains { $0.kind == kind && $0[keyPath: way] }
  }
  /// With the feedback that is given or taken in these directions; what neither end would send is not agreed on.
  private func codecs(receives: Bool, sends: Bool) -> [NegotiatedCodec] {
    let reportsArrivals = receives && has(.transportSequence, \.receives)
    let hearsArrivals = sends && has(.transportSequence, \.sends)
    return codecs.map { codec in
      var codec = codec
      // We ask by PLI where we can, and answer to both.
      codec.fir = codec.fir && (sends || receives && !codec.pli)
      // An estimate for who can't make its own of arrival times, and from who gives none.
      let tells = receives && !(codec.transportCC && reportsArrivals)
      let hears = sends && readsFeedback && !(codec.transportCC && hearsArrivals)
      // Arrivals are reported in one way: by transport-wide numbers where there are any.
      codec.ccfb =
        codec.ccfb && !(codec.transportCC && (reportsArrivals || hearsArrivals))
        && (receives || sends && readsFeedback)
      codec.remb = codec.remb && kind == .video && (tells || hears) && !codec.ccfb
      codec.transportCC = codec.transportCC && (reportsArrivals || hearsArrivals)
      return codec
    }
  }
  private func map(_ way: KeyPath<Extension, Bool>) -> HeaderExtensionMap {
    var map = HeaderExtensionMap()
    for item in extensions where item[keyPath: way] { map[item.kind] = item.id }
    return map
  }
}

extension MediaKind {
  init?(media: String) {
    switch media {
    case "audio": self = .audio
    case "video": self = .video
    default: return nil
    }
  }

  var media: String { self == .audio ? "audio" : "video" }
}
