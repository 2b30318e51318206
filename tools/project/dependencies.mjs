/** Keeps `node_modules` equal to `package-lock.json`, so that no command needs an installing step before it. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Installs when the lock and `node_modules` differ. Everything it says goes to stderr. */
export function installWhenNeeded(root) {
  if (isCompared(root)) return
  const reason = whyInstall(root)
  if (reason === undefined) {
    noteCompared(root)
    return
  }
  process.stderr.write(`installing dependencies (${reason}); the first time takes about a minute\n`)
  const npm = npmCommand()
  const result = spawnSync(
    npm.file,
    // Only a terminal can be shown how far it is.
    [
      ...npm.prefix,
      'ci',
      '--include=dev',
      ...(process.stderr.isTTY ? [] : ['--no-progress']),
      '--loglevel=error',
    ],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
      // A command started by npm inherits npm's settings, of which a script filter or a production mode would spoil this one.
      env: { ...process.env, NODE_ENV: '' },
    },
  )
  if (result.status !== 0) {
    process.stderr.write(
      'npm ci failed. Check the network and the registry npm is configured with, then run the command again.\n',
    )
    process.exit(result.status ?? 1)
  }
}

const installedPath = (root) => join(root, 'node_modules', '.package-lock.json')
const comparedPath = (root) => join(root, 'node_modules', '.sluice-compared')

/** Reading both locks takes longer than most commands: they are compared again when one of them was written. */
function isCompared(root) {
  return existsSync(comparedPath(root)) && readFileSync(comparedPath(root), 'utf8') === stateOf(root)
}

function noteCompared(root) {
  try {
    writeFileSync(comparedPath(root), stateOf(root))
  } catch (error) {
    // Somebody else's checkout: it is compared every time.
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error
  }
}

function stateOf(root) {
  return [join(root, 'package-lock.json'), installedPath(root)]
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .map((stat) => `${stat?.size}:${stat?.mtimeMs}`)
    .join(' ')
}

/** Why `node_modules` is not what the lock asks for; undefined when it is. */
function whyInstall(root) {
  if (!existsSync(installedPath(root))) return 'nothing is installed yet'
  const wanted = readPackages(join(root, 'package-lock.json'))
  const installed = readPackages(installedPath(root))
  for (const [path, entry] of Object.entries(wanted)) {
    // Workspaces stand in the lock twice, as a folder and as a link to it; only the link is installed.
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) continue
    const found = installed[path]
    if (found === undefined) {
      // npm leaves out what another platform needs, and notes nothing.
      if (entry.optional || entry.peer) continue
      return `${path.slice(path.lastIndexOf('node_modules/') + 13)} is missing`
    }
    if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return `${path.slice(path.lastIndexOf('node_modules/') + 13)} has another version`
    }
  }
  return undefined
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages
}

/** The npm that started us, else the one beside this Node, else the one on the path. */
function npmCommand() {
  const running = process.env.npm_execpath
  if (running?.endsWith('.js') && existsSync(running)) return { file: process.execPath, prefix: [running] }
  return { file: process.platform === 'win32' ? 'npm.cmd' : 'npm', prefix: [] }
}
