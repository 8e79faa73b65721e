internal import Model

/// A track as a file describes it.
struct NumberedTrack: Sendable {
  /// By which blocks name it.
  var number: UInt64
  var track: MatroskaTrack
  /// What each frame begins with, which the file has left out of all of them.
  var stripped: [UInt8] = []

  /// - Returns: nil of one whose codec isn't known here, or whose frames are compressed or encrypted.
  init?(_ entry: ArraySlice<UInt8>) {
    guard let number = EBMLElements.unsigned(.trackNumber, in: entry),
      let id = EBMLElements.text(.codecID, in: entry)
    else { return nil }
    let format = EBMLElements.first(.codecPrivate, in: entry).map { Array($0) } ?? []
    guard let codec = MatroskaTrack.codec(id: id, format: format) else { return nil }
    self.number = number
    track = MatroskaTrack(codec: codec, codecPrivate: format)
    track.codecDelay = EBMLElements.unsigned(.codecDelay, in: entry) ?? 0
    track.name = EBMLElements.text(.name, in: entry) ?? ""
    if let video = EBMLElements.first(.video, in: entry) {
      track.size = PictureSize(
        width: UInt16(clamping: EBMLElements.unsigned(.pixelWidth, in: video) ?? 0),
        height: UInt16(clamping: EBMLElements.unsigned(.pixelHeight, in: video) ?? 0))
    }
    if let audio = EBMLElements.first(.audio, in: entry) {
      track.channels = UInt8(clamping: EBMLElements.unsigned(.channels, in: audio) ?? 1)
    }
    guard let encodings = EBMLElements.first(.contentEncodings, in: entry) else { return }
    guard let stripped = Self.stripped(encodings) else { return nil }
    self.stripped = stripped
  }

  /// Of encodings the one that leaves out what all frames begin with is undone (RFC 9559 §5.1.4.1.31.7, algorithm 3).
  private static func stripped(_ encodings: ArraySlice<UInt8>) -> [UInt8]? {
    var all = EBMLElements(encodings).makeIterator()
    guard let only = all.next(), only.id == MatroskaID.contentEncoding.rawValue, all.next() == nil,
      let compression = EBMLElements.first(.contentCompression, in: only.content),
      EBMLElements.unsigned(.contentCompAlgo, in: compression) == 3
    else { return nil }
    let settings = EBMLElements.first(.contentCompSettings, in: compression) ?? []
    return settings.count <= 256 ? Array(settings) : nil
  }
}
