/** A dependency needs a sentence in docs/decisions: what it saves, what it can break, how it would be removed. */
export function checkDecisions(tree) {
  const decisions = tree.files
    .filter((file) => /^docs\/decisions\/.*\.md$/.test(file))
    .map((file) => tree.read(file))
    .join('\n')
  const manifests = tree.files.filter(
    (file) => /(^|\/)package\.json$/.test(file) && !file.includes('fixtures/'),
  )
  return manifests.flatMap((file) => {
    const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = JSON.parse(tree.read(file))
    return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter((name) => !decisions.includes(`\`${name}\``))
      .map((name) => ({
        file,
        message: `${name} has no line in docs/decisions; say what it saves, what it can break and how it would be removed`,
      }))
  })
}
