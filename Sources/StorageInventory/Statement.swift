/// A statement of the guidelines: the talk *iOS Storage Best Practices* (T), the *iOS Data Storage Guidelines* (G) and
/// the article *Optimizing Your App's Data for iCloud Backup* (B), in the words of this package.
///
/// A raw value is the ``id``, a space and the ``text``.
package enum Statement: String, Sendable, Hashable, CaseIterable {
    case t1 = "T1 An app's developer knows exactly what is stored on disk, where, and why it is needed."
    case t2 = "T2 The way there is an inventory: use every feature that stores something, then look."
    case t3 = "T3 An app's container can be taken from a device as a bundle, to look through its AppData."
    case t4 = "T4 Look at each folder and see what was stored in it."
    case t5 = "T5 For each file: what is it, and why is it stored?"
    case t6 = "T6 A file that nobody can explain may be one to get rid of."
    case t7 = "T7 For each file: is it in the right folder?"
    case t8 = "T8 For each file: should it be in the backups?"
    case t9 = "T9 iCloud Drive is the best place for documents: they are on all of the user's devices."
    case t10 = "T10 Its folder is visible: only documents that people recognise and open belong there."
    case t11 = "T11 The app reads and writes locally; the system uploads when there is a network."
    case t12 = "T12 Several devices may work on a file there: file coordination avoids conflicts."
    case t13 = "T13 Locally, Documents is for documents that the user sees, and for nothing else."
    case t14 = "T14 With file sharing and opening in place declared, the Files app shows Documents."
    case t15 = "T15 Such files are found by searching and can be dragged to other apps."
    case t16 = "T16 Files in an exposed Documents folder can be removed one by one in the storage settings."
    case t17 = "T17 That makes it less likely that the whole app is deleted when space is low."
    case t18 = "T18 A file that users should not see does not belong in Documents."
    case t19 = "T19 Application Support is for files that users should not see, such as a database."
    case t20 = "T20 They are at its top level or in folders of the app's own."
    case t21 = "T21 Application Support is under the app's control, and persistent."
    case t22 = "T22 Application Support is in backups by default; files can be opted out."
    case t23 = "T23 Its space counts under Documents & Data in the storage settings."
    case t24 = "T24 Caches is for what can be discarded when space is low, and downloaded again when needed."
    case t25 = "T25 Caches is not in backups."
    case t26 = "T26 The system clears caches when space is low: not of a running app, first of unused ones."
    case t27 = "T27 Caches does not count under Documents & Data, but in the space taken up by the app."
    case t28 = "T28 Temporary files are those that are not needed for long."
    case t29 = "T29 The app removes temporary files when it is done with them; the system now and then."
    case t30 = "T30 Temporary files are not in backups, nor under Documents & Data."
    case t31 = "T31 iCloud Drive and Documents are for what the user sees; other areas are the app's own."
    case t32 = "T32 The mark that excludes a file from backups is set through the system's API."
    case t33 = "T33 Files of an older version of the app may be restored and must be handled."
    case t34 = "T34 File formats carry versions, so that versions of the app stay compatible."
    case t35 = "T35 A file is stored in one location only: not in Documents and in iCloud Drive."
    case t36 = "T36 For user documents prefer a cloud location, unless there is a reason for a local one."
    case t37 = "T37 Volume capacities say whether it is a good time to take more space."
    case t38 = "T38 Important usage: the space that can be made for what the user has requested."
    case t39 = "T39 If that is less than needed, tell the user that the request cannot be fulfilled."
    case t40 = "T40 Opportunistic usage: the space for what the user is likely to want."
    case t41 = "T41 Such files are stored in Caches first, and moved once they are really used."
    case t42 = "T42 A file in the wrong place: change the code, and add code that migrates what is there."
    case t43 = "T43 Without migration, abandoned files stay behind."
    case g0a = "G0a All of the app's home is backed up daily, except the app, caches and temporary files."
    case g0b = "G0b Store as little as possible: large files lengthen backups and take cloud storage."
    case g1 = "G1 Documents holds only what the user made, or what the app cannot otherwise recreate."
    case g2 = "G2 What can be downloaded again or regenerated goes to Caches: also database caches, maps."
    case g3 = "G3 Temporary data goes to tmp and is deleted when done with."
    case g4a = "G4a The mark against backups is for files that must stay even when space is low."
    case g4b = "G4b The mark is for data that can be recreated but must persist, or is expected offline."
    case g4c = "G4c The mark works in any folder, Documents included."
    case g4d = "G4d Marked files are neither purged by the system nor backed up."
    case g4e = "G4e The app itself monitors marked files and purges them from time to time."
    case b1 = "B1 Purgeable data in the right folders, and marks on the rest, make backups smaller."
    case b2 = "B2 Purgeable is what can be deleted and made again: thumbnails of larger images, for example."
    case b3 = "B3 Purgeable data belongs in tmp or Caches, which the system purges and backups leave out."
    case b4 = "B4 Purgeable data anywhere else may be backed up for nothing."
    case b5 = "B5 tmp and Caches are not to be used to keep data that must persist out of backups."
    case b6 = "B6 Ask the system for the locations of these folders."
    case b7 = "B7 Delete purgeable data as soon as it is done with."
    case b8 = "B8 What the user made, or what the app needs to work as expected, is not purgeable."
    case b9 = "B9 Exclude downloaded high-definition movies: large, and downloadable again."
    case b10 = "B10 Do not exclude what the user imported (PDFs, ebooks, comics): it may be gone for good."
    case b11 = "B11 Exclusion is set per file or folder as a resource value."
    case b12 = "B12 Exclusion is guidance: no guarantee that an item never appears in a backup."
    case b13 = "B13 Group related files in a folder and exclude the folder."
    case b14 = "B14 An excluded folder in Library is named by the app's bundle identifier."

    /// `T18`
    package var id: String { String(rawValue.prefix { $0 != " " }) }

    package var text: String { String(rawValue.drop { $0 != " " }.dropFirst()) }

    /// The title of the talk, guidelines or article that makes the statement.
    var source: String {
        switch rawValue.first {
        case "T": "iOS Storage Best Practices"
        case "G": "iOS Data Storage Guidelines"
        default: "Optimizing Your App’s Data for iCloud Backup"
        }
    }
}
