// Package render writes a results.Report for people and programs: as text for a
// terminal, as Markdown, as JSON and as one self-contained HTML page.
//
//  1. outline turns the report into blocks (headings, sentences, lists, tables);
//     Text and Markdown lay out the same blocks, so that they cannot disagree.
//  2. HTML takes the same tables and adds the key figures as tiles and two
//     pictures a ladder, drawn here as SVG. PictureFiles gives the two as files, and as
//     the PNG that raster draws of them.
//  3. JSON writes the report itself.
//  4. SideBySide lays out the rows of several reports, and BesideHTML makes a page of
//     them, of the same parts, with their curves on one axis.
//
// Texts of servers and specs are untrusted. They pass safe, which makes control
// and bidirectional characters visible, and the escaping of each form.
package render
