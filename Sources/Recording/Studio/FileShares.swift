internal import Model

/// Files that tracks may begin. Each track has its first one, for which its entry has paid; the others are of what is shared: a source that
/// changes its codec again and again takes none of what another one needs.
struct FileShares {
  /// Of the manifest: that of entries, too.
  var budget: ManifestBudget
  private var further = ShareCount<ExactName>()

  init(of manifest: RecordingManifest) { budget = ManifestBudget(of: manifest) }

  /// - Parameter already: files that the track has.
  /// - Returns: false where it may have no more.
  mutating func take(_ name: String, of identity: String, already: Int) -> Bool {
    guard already > 0 else { return true }
    guard already < RecordingLimits.filesOfTrack else { return false }
    let (most, share) = (RecordingLimits.furtherFiles, RecordingLimits.furtherFilesOfOne)
    let owner = ExactName(identity)
    guard further.take(owner, most: most, share: share) else { return false }
    guard budget.take(ManifestBudget.cost(ofFile: name)) else {
      further.giveBack(owner)
      return false
    }
    return true
  }
}
