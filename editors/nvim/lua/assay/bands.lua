--- Words, shapes and colours of the bands, as in calibration/bands.py; a test holds the two together.
---@class assay.Band
---@field word string
---@field shape string
---@field colour string on a light background
---@field colour_dark string on a dark one
---@field group string the highlight group

---@type assay.Band[]
return {
  { word = 'likely', shape = '◆', colour = '#0044DD', colour_dark = '#00AAEE', group = 'AssayLikely' },
  { word = 'possible', shape = '◈', colour = '#884400', colour_dark = '#FFDD00', group = 'AssayPossible' },
  { word = 'unlikely', shape = '◇', colour = '#440033', colour_dark = '#EE7766', group = 'AssayUnlikely' },
  { word = 'no evidence', shape = '○', colour = '#585858', colour_dark = '#B4B4B4', group = 'AssayNoEvidence' },
}
