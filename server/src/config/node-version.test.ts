/** Which Node is needed is said in the manifests, to npm, and in the code, to people; both say the same. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isOldNode, NODE_LEAST, oldNodeText } from './node-version.ts'

test.each(['../../../package.json', '../../package.json'])('%s asks for the same Node', (path) => {
  const manifest: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
  expect(manifest).toMatchObject({ engines: { node: `>=${NODE_LEAST}` } })
})

test.each([
  ['14.21.3', true],
  ['18.20.8', true],
  ['20.18.9', true],
  ['20.19.0', false],
  ['22.0.0', false],
  ['24.1.0', false],
])('Node %s', (version, isOld) => {
  expect(isOldNode(version)).toBe(isOld)
})

test('an old version is refused with the required version, the current one and its path', () => {
  expect(oldNodeText({ version: '24.0.0', path: '/usr/bin/node' })).toBeUndefined()
  expect(oldNodeText({ version: '18.20.8', path: '/usr/bin/node' })).toMatch(
    /^Sluice needs Node 20\.19 or newer; this is 18\.20\.8 \(\/usr\/bin\/node\)\.\nInstall/,
  )
})
