/**
 * The required version of Node. Loaded first by every program, so this file and its importers must be readable for
 * versions that are too old: nothing is imported here.
 */

/** As `engines` in the manifests. */
export const NODE_LEAST = '20.19'

/** A message for the person who started it; undefined: this version is fine. */
export function oldNodeText({ version, path }: NodeFacts): string | undefined {
  if (!isOldNode(version)) return undefined
  return (
    `Sluice needs Node ${NODE_LEAST} or newer; this is ${version} (${path}).\n` +
    'Install a newer one from https://nodejs.org, or let a version manager do it: nvm install 24\n'
  )
}

export interface NodeFacts {
  /** Like 20.19.0. */
  readonly version: string
  /** Path of the program, since a machine may have several. */
  readonly path: string
}

export function isOldNode(version: string): boolean {
  const [leastMajor = 0, leastMinor = 0] = NODE_LEAST.split('.').map(Number)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < leastMajor || (major === leastMajor && minor < leastMinor)
}
