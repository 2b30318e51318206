/** A newcomer enters a room through its README: short, and with the same four heads everywhere. */
const HEADS = ['## Owns', '## Does not own', '## Invariants', '## Start reading at']
const LINES_MAX = 40

export function checkRoomReadmes(tree) {
  const rooms = roomsOf(tree)
  const missing = rooms
    .map((room) => `${room}/README.md`)
    .filter((file) => !tree.files.includes(file))
    .map((file) => ({
      file,
      message: `the room has no README; write one of at most ${LINES_MAX} lines with the heads ${HEADS.join(', ')}`,
    }))
  const present = tree.files.filter((file) => /^server\/src\/.*README\.md$/.test(file))
  return [...missing, ...present.flatMap((file) => checkReadme(file, tree.read(file)))]
}

function roomsOf(tree) {
  const rooms = tree.files.flatMap(
    (file) => /^(server\/src\/(?:core\/)?[^/]+)\/.*\.ts$/.exec(file)?.[1] ?? [],
  )
  return [...new Set(rooms)].filter((room) => room !== 'server/src/core')
}

function checkReadme(file, text) {
  const findings = []
  const lines = text.trimEnd().split('\n')
  if (lines.length > LINES_MAX)
    findings.push({ file, message: `has ${lines.length} lines; ${LINES_MAX} is what one reads at once` })
  for (const head of HEADS) {
    if (!lines.includes(head)) findings.push({ file, message: `has no head "${head}"` })
  }
  return findings
}
