/** A PostgreSQL for one comparison, as the tests start one, but with the settings an operator would use. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleProgram } from '../../tools/project/bundle-program.mjs'

/** Its address, the process whose family it is, and how to remove it with its data. */
export async function startServer(root, core) {
  const file = join(root, 'server/dist/bench-postgres.js')
  await bundleProgram({ entryPoints: [join(root, 'server/test/postgres/server.ts')] }, file)
  const { openOwnServer } = await import(pathToFileURL(file))
  const server = await openOwnServer('bench', { durable: true })
  const { pid } = server
  execFileSync('taskset', ['-cp', String(core), String(pid)], { stdio: 'ignore' })
  // Connections come later, and each is a child of this process.
  return { url: `postgres://sluice@127.0.0.1:${server.port}/postgres`, pid, close: server.close }
}
