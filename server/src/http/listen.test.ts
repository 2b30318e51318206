import { connect, createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { listen, rarely } from './listen.ts'

const servers: Server[] = []
const openServer = (): Server => {
  const server = createServer((socket) => socket.end('here'))
  servers.push(server)
  return server
}
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

const AT = { port: 0, host: '127.0.0.1' }
const none = (error: Error): void => expect.unreachable(error.message)

test('a port that is taken is refused with the system’s error', async () => {
  const port = await listen(openServer(), AT, none)
  await expect(listen(openServer(), { ...AT, port }, none)).rejects.toMatchObject({
    code: 'EADDRINUSE',
    syscall: 'listen',
  })
})

test('connections that the system cannot hand over are reported, each, and the next one is served', async () => {
  const lost: Error[] = []
  const server = openServer()
  const port = await listen(server, AT, (error) => lost.push(error))
  // What Node does when `accept` fails.
  const full = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' })
  server.emit('error', full)
  server.emit('error', full)
  expect(lost).toEqual([full, full])
  const [first] = (await once(connect(port, AT.host), 'data')) as [Buffer]
  expect(first.toString()).toBe('here')
})

test('of many in ten seconds one is passed on', () => {
  const said: string[] = []
  let now = 0
  const report = rarely(
    (error) => said.push(`${now} ${error.message}`),
    () => now,
  )
  for (const at of [0, 1, 9_999, 10_000, 10_001, 20_000]) {
    now = at
    report(new Error('lost'))
  }
  expect(said).toEqual(['0 lost', '10000 lost', '20000 lost'])
})
