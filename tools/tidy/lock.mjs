/** The lock works everywhere: it holds the binaries of every platform, and the address of no registry. */
const FILE = /(^|\/)package-lock\.json$/

export function checkLock(tree) {
  return tree.files
    .filter((file) => FILE.test(file))
    .flatMap((file) => [...registryAddresses(tree, file), ...missingBinaries(tree, file)])
}

function registryAddresses(tree, file) {
  if (!/"resolved": "https?:/.test(tree.read(file))) return []
  const message =
    'holds registry addresses; keep omit-lockfile-registry-resolved=true in .npmrc and write the lock again'
  return [{ file, message }]
}

/** npm install leaves out what a registry does not have, without a word, and npm ci then refuses the lock. */
function missingBinaries(tree, file) {
  const { packages = {} } = JSON.parse(tree.read(file))
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter(
        (name) =>
          packages[`${path}/node_modules/${name}`] === undefined &&
          packages[`node_modules/${name}`] === undefined,
      )
      .map((name) => ({
        file,
        message: `${name} is missing, which ${path} may need; hold ${path} at a release that has all, delete node_modules, and run npm install`,
      })),
  )
}
