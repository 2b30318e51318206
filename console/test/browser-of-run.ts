/** For vitest's `globalSetup`: one browser for all journeys of a run, started for the first file that asks for it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type BrowserServer, chromium } from 'playwright-core'
import { launchOptions, START_MS } from './chromium.ts'

/** Where threads of the run ask for the browser's address. */
const VARIABLE = 'SLUICE_TEST_BROWSER'

/** Resolves with what closes it again. */
export async function setup(): Promise<() => Promise<void>> {
  let launched: Promise<BrowserServer> | undefined
  const launch = async () => chromium.launchServer({ ...(await launchOptions()), host: '127.0.0.1' })
  const desk = createServer((_, response) => {
    launched ??= launch()
    launched.then(
      (browser) => response.end(browser.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve))
  process.env[VARIABLE] = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`
  return async () => {
    await new Promise((resolve) => desk.close(resolve))
    await (await launched)?.close()
  }
}

/** Its windows are this thread's own, and are closed with it. */
export async function joinBrowser(): Promise<Browser> {
  const desk = process.env[VARIABLE]
  if (desk === undefined) throw new Error(`${VARIABLE} names no browser: the global set-up has not run`)
  const answer = await fetch(desk)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the browser does not start: ${text}`)
  return chromium.connect(text, { timeout: START_MS })
}
