/** A newcomer enters a module through its README: short, and with the same four heads everywhere. */
const HEADS = ['## Owns', '## Does not own', '## Invariants', '## Start reading at']
const LINES_MAX = 40

export function checkModuleReadmes(tree) {
  const modules = modulesOf(tree)
  const missing = modules
    .map((module) => `${module}/README.md`)
    .filter((file) => !tree.files.includes(file))
    .map((file) => ({
      file,
      message: `the module has no README; write one of at most ${LINES_MAX} lines with the heads ${HEADS.join(', ')}`,
    }))
  const present = tree.files.filter((file) => /^server\/src\/.*README\.md$/.test(file))
  return [...missing, ...present.flatMap((file) => checkReadme(file, tree.read(file)))]
}

function modulesOf(tree) {
  const modules = tree.files.flatMap(
    (file) => /^(server\/src\/(?:core\/)?[^/]+)\/.*\.ts$/.exec(file)?.[1] ?? [],
  )
  return [...new Set(modules)].filter((module) => module !== 'server/src/core')
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
