/** Models tried out: talked to in every protocol, with tools and pictures; asked once; stopped; and the key of it all. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { waveFile } from '../../../server/test/calls/wave-file.ts'
import { callModel, signInAs } from '../../test/api.ts'
import { expectOpenToEverybody } from '../../test/everybody.ts'
import { CUSTOMER, gatewayFile } from '../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site

beforeAll(async () => {
  const file = gatewayFile()
  const chain = { vendor: 'sandbox', credential: 'main' }
  site = await openSite({
    file: {
      ...file,
      models: [
        {
          model_id: 'sorter',
          name: 'Sorter',
          support_features: ['text'],
          pricing: { billing_modes: ['request'], request_price: 0.001 },
          chains: [{ ...chain, protocol: 'rerank', forward_model_id: 'sandbox-rerank' }],
        },
        {
          model_id: 'listener',
          name: 'Listener',
          support_features: ['audio'],
          pricing: { billing_modes: ['audio_second'], audio_second_price: 0.0007 },
          chains: [{ ...chain, protocol: 'transcription', forward_model_id: 'sandbox-listen' }],
        },
        ...file.models.map((model) =>
          model.model_id === 'glm-5' ? { ...model, required_verification: 2 } : model,
        ),
        {
          model_id: 'text-embed-3',
          name: 'Embed 3',
          support_features: ['text'],
          pricing: { input_price: 1 },
          chains: [{ ...chain, protocol: 'embeddings', forward_model_id: 'sandbox-embed' }],
        },
        {
          model_id: 'guard',
          name: 'Guard',
          support_features: ['text'],
          pricing: { billing_modes: ['request'], request_price: 0.001 },
          chains: [{ ...chain, protocol: 'moderation', forward_model_id: 'sandbox-moderate' }],
        },
        {
          model_id: 'painter',
          name: 'Painter',
          support_features: ['image'],
          pricing: { billing_modes: ['image'], image_price: 0.01 },
          chains: [{ ...chain, protocol: 'images', forward_model_id: 'sandbox-image' }],
        },
        {
          model_id: 'reader',
          name: 'Reader',
          support_features: ['audio'],
          pricing: { billing_modes: ['character'], character_price: 100 },
          chains: [{ ...chain, protocol: 'speech', forward_model_id: 'sandbox-voice' }],
        },
      ],
    },
  })
})

afterAll(() => site.close())

const MESSAGE = /Write a message|写一条消息/

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: MESSAGE }).fill(text)
  await page.keyboard.press('Control+Enter')
}

const panel = (page: Page) => page.getByRole('complementary', { name: 'This call' })
const outcome = (page: Page) => panel(page).getByRole('region', { name: 'What it was' })

/** A picture of one point. */
const POINT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('one conversation goes on in every protocol; each call is shown as it was sent, counted and paid', async () => {
  const visit = await site.visit('/models?model=gpt-5', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('link', { name: 'Open in the playground' }).click()
  const protocols = [
    ['Chat', '/v1/chat/completions', 'client.chat.completions.create('],
    ['Responses', '/v1/responses', 'client.responses.create('],
    ['Messages', '/v1/messages', 'client.messages.create('],
    [
      'Gemini',
      '/v1beta/models/gpt-5:streamGenerateContent?alt=sse',
      'client.models.generate_content_stream(',
    ],
  ] as const
  for (const [index, [label, path, method]] of protocols.entries()) {
    await page.getByText(label, { exact: true }).click()
    await say(page, `Question ${index} 你好`)
    await page.getByText(`You wrote: "Question ${index} 你好"`).waitFor()
    await panel(page).getByText(`POST ${path}`).waitFor()
    await outcome(page).getByText('Completed').waitFor()
    await outcome(page).getByRole('link', { name: 'Open the call' }).waitFor()
    await panel(page).getByRole('tab', { name: 'Snippet' }).click()
    await panel(page).getByText(method).waitFor()
    await panel(page).getByRole('tab', { name: 'Request' }).click()
  }
  // The first question went along to the last.
  await panel(page)
    .getByRole('region', { name: 'Request' })
    .getByText('"Question 0 你好"', { exact: true })
    .waitFor()
  const { searchParams } = new URL(page.url())
  expect(Object.fromEntries(searchParams)).toEqual({ model: 'gpt-5', kind: 'gemini' })
  await outcome(page).getByRole('link', { name: 'Open the call' }).click()
  await page.getByRole('dialog').getByText('gpt-5').first().waitFor()
  await page.goBack()
  const last = page.getByText('You wrote: "Question 3 你好"')
  await last.waitFor()
  await page.getByRole('button', { name: 'New' }).click()
  await last.waitFor({ state: 'detached' })
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('tools are called and answered, pictures go along, and parameters are sent', async () => {
  const visit = await site.visit('/playground?model=claude-opus-4.8&kind=messages', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('button', { name: 'Parameters' }).click()
  await page.getByRole('textbox', { name: 'System text' }).fill('Be short')
  await page.getByRole('textbox', { name: 'Tools' }).fill('no JSON')
  await page.getByText('This is not a list of tools').waitFor()
  await page.getByRole('textbox', { name: 'Tools' }).fill('')
  await page.getByRole('button', { name: 'Put in an example' }).click()
  await page.getByRole('textbox', { name: 'Tokens at most' }).fill('2000')
  await page.getByRole('button', { name: 'Parameters' }).click()
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: 'point.png', mimeType: 'image/png', buffer: POINT })
  await page.getByRole('img', { name: 'point.png' }).waitFor()
  await say(page, 'What is the weather in Oslo?')
  await page.getByRole('textbox', { name: 'What weather answers' }).fill('Rain, 4 degrees')
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.getByText(/weather answered: /).waitFor()
  const request = panel(page).getByRole('region', { name: 'Request' })
  for (const sent of [
    '"max_tokens": 2000',
    '"system": "Be short"',
    '"tool_result"',
    '"image/png"',
    '"input_schema"',
  ])
    expect(await request.innerText()).toContain(sent)
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('texts become vectors, are put in order, and a text is judged', async () => {
  const visit = await site.visit('/playground?model=text-embed-3', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('textbox', { name: 'Texts, one a line' }).fill('a cat\na dog')
  await page.getByRole('button', { name: 'Send' }).click()
  const vectors = page.getByRole('table', { name: 'Vectors' })
  await vectors.getByRole('row', { name: /a dog/ }).waitFor()
  await vectors.getByRole('row', { name: /a cat .* 1$/ }).waitFor()
  await page.getByRole('combobox', { name: 'Model' }).click()
  await page.getByRole('option', { name: 'Sorter' }).click()
  await page.getByRole('textbox', { name: 'Query' }).fill('which gate is open')
  await page.getByRole('textbox', { name: 'Documents, one a line' }).fill('the sea is calm\nthe gate is open')
  await page.getByRole('button', { name: 'Send' }).click()
  const ranked = page.getByRole('table', { name: 'In order' }).getByRole('row')
  await ranked.nth(2).waitFor()
  expect(await ranked.allInnerTexts()).toEqual([
    expect.stringContaining('Score'),
    expect.stringMatching(/the gate is open\s+0\.75/),
    expect.stringMatching(/the sea is calm\s+0\.25/),
  ])
  await page.getByRole('combobox', { name: 'Model' }).click()
  await page.getByRole('option', { name: 'Guard' }).click()
  await page.getByRole('textbox', { name: 'Text' }).fill('I will hurt you')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('table', { name: 'Categories' }).getByText('violence', { exact: true }).waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('images are made and seen, a text is read aloud, and a recording is written down', async () => {
  const visit = await site.visit('/playground?model=painter', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('textbox', { name: 'What the picture shows' }).fill('A gate over a wave')
  await page.getByRole('combobox', { name: 'How many' }).click()
  await page.getByRole('option', { name: '2' }).click()
  await page.getByRole('button', { name: 'Send' }).click()
  const images = page.getByRole('list', { name: 'The images' })
  await images.getByRole('img', { name: 'A gate over a wave' }).nth(1).waitFor()
  await expect
    .poll(() => page.evaluate('document.querySelector("main li img").naturalWidth'))
    .toBeGreaterThan(0)
  await outcome(page).getByText('Completed').waitFor()
  expect(await visit.barriers()).toEqual([])
  await page.getByRole('combobox', { name: 'Model' }).click()
  await page.getByRole('option', { name: 'Reader' }).click()
  await page.getByRole('textbox', { name: 'Text' }).fill('All gates are open.')
  await page.getByRole('textbox', { name: 'Voice' }).fill('coral')
  await page.getByRole('button', { name: 'Send' }).click()
  const sound = page.getByLabel('The recording')
  await sound.waitFor()
  await expect.poll(() => page.evaluate('document.querySelector("audio").duration')).toBeGreaterThan(0.5)
  await outcome(page).getByText('Completed').waitFor()
  await panel(page).getByRole('tab', { name: 'Response' }).click()
  await panel(page)
    .getByText(/audio\/wav, \d+ bytes/)
    .waitFor()
  await page.getByRole('combobox', { name: 'Model' }).click()
  await page.getByRole('option', { name: 'Listener' }).click()
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: 'gates.wav', mimeType: 'audio/wav', buffer: waveFile(2) })
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText(/^Somebody speaks for [\d.]+ seconds\.$/).waitFor()
  await panel(page).getByRole('tab', { name: 'Snippet' }).click()
  await panel(page).getByText("-F 'file=@gates.wav'").waitFor()
  await page.getByText('Translation', { exact: true }).click()
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: 'gates.wav', mimeType: 'audio/wav', buffer: waveFile(2) })
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText(/^Somebody speaks for [\d.]+ seconds\.$/).waitFor()
  await panel(page).getByText('client.audio.translations.create(').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('what a model can be asked for has a name in Chinese', async () => {
  const visit = await site.visit('/playground?model=painter', { as: CUSTOMER, language: 'zh-CN' })
  await visit.page.getByText('编辑图片', { exact: true }).waitFor()
  await visit.close()
})

test('a picture is changed where its mask is clear, and others like it are made', async () => {
  const visit = await site.visit('/playground?model=painter', { as: CUSTOMER })
  const { page } = visit
  const point = (name: string) => ({ name, mimeType: 'image/png', buffer: POINT })
  await page.getByText('Edit', { exact: true }).click()
  const send = page.getByRole('button', { name: 'Send' })
  await page.getByRole('textbox', { name: 'What the picture shows' }).fill('A gate over a calm sea')
  expect(await send.isDisabled()).toBe(true)
  await page.locator('input[type="file"]').first().setInputFiles(point('gate.png'))
  await page.locator('input[type="file"]').nth(1).setInputFiles(point('sky.png'))
  await send.click()
  const images = page.getByRole('list', { name: 'The images' })
  await images.getByRole('img', { name: 'A gate over a calm sea' }).waitFor()
  await panel(page).getByText('POST /v1/images/edits').waitFor()
  await outcome(page).getByText('Completed').waitFor()
  await panel(page).getByRole('tab', { name: 'Snippet' }).click()
  await panel(page).getByText("-F 'mask=@sky.png'").waitFor()
  await panel(page).getByText('mask=open("sky.png", "rb")').waitFor()
  await page.getByRole('button', { name: 'Remove sky.png' }).click()
  expect(await visit.barriers()).toEqual([])

  await page.getByText('Variations', { exact: true }).click()
  await page.locator('input[type="file"]').setInputFiles(point('gate.png'))
  await page.getByRole('combobox', { name: 'How many' }).click()
  await page.getByRole('option', { name: '2' }).click()
  await send.click()
  await images.getByRole('img', { name: 'gate.png' }).nth(1).waitFor()
  await outcome(page).getByText('Completed').waitFor()
  await panel(page).getByText('client.images.create_variation(').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('a video is awaited, stopped, ordered again and played', async () => {
  const visit = await site.visit('/playground?model=kling-v3', { as: CUSTOMER })
  const { page } = visit
  await page.getByRole('textbox', { name: 'What the picture shows' }).fill('A gate over a wave')
  await page.getByRole('textbox', { name: 'Seconds' }).fill('2')
  await page.getByRole('button', { name: 'Send' }).click()
  await page
    .getByRole('status')
    .getByText(/so far/)
    .waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('You stopped it.').waitFor()
  await page.getByRole('button', { name: 'Send' }).click()
  const video = page.getByLabel('The video')
  await video.waitFor({ timeout: JOURNEY_MS / 2 })
  await expect.poll(() => video.getAttribute('src')).toMatch(/^blob:/)
  await expect.poll(() => page.evaluate('document.querySelector("video").videoWidth')).toBeGreaterThan(0)
  await outcome(page).getByText('Completed').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('what the gateway refuses is said, can be tried again, and another model goes on with it', async () => {
  const visit = await site.visit('/playground?model=glm-5', { as: CUSTOMER })
  const { page } = visit
  await say(page, 'Hello')
  await page.getByRole('alert').getByText(/verif/i).waitFor()
  await outcome(page).getByText('Failed').waitFor()
  await page.getByRole('combobox', { name: 'Model' }).click()
  await page.getByRole('option', { name: 'GPT-5' }).click()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('You wrote: "Hello"').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('two windows of one person call with the same key, whichever made it last', async () => {
  const visit = await site.visit('/playground?model=gpt-5', { as: CUSTOMER })
  const first = visit.page
  const second = await visit.context.newPage()
  await second.goto(first.url())
  await second.getByRole('textbox', { name: MESSAGE }).waitFor()
  const refused: string[] = []
  let keysMade = 0
  for (const page of [first, second])
    page.on('response', (response) => {
      if (response.status() === 401) refused.push(response.url())
      if (response.url().endsWith('/session-key')) keysMade++
    })
  await say(first, 'One')
  await outcome(first).getByText('Completed').waitFor()
  for (const [page, text] of [
    [second, 'Two'],
    [first, 'Three'],
    [second, 'Four'],
  ] as const) {
    await say(page, text)
    await page.getByText(`You wrote: "${text}"`).waitFor()
    await outcome(page).getByText('Completed').waitFor()
  }
  expect({ refused, keysMade }).toEqual({ refused: [], keysMade: 1 })
  // Somebody elsewhere takes the place of both.
  const elsewhere = await signInAs(site.baseUrl, CUSTOMER)
  await elsewhere.ask('POST', 'user/user/session-key')
  await Promise.all([say(first, 'Five'), say(second, 'Six')])
  await first.getByText('You wrote: "Five"').waitFor()
  await second.getByText('You wrote: "Six"').waitFor()
  expect(visit.faults).toEqual([])
  await visit.close()
})

test('its key is in the page’s memory alone, in no list, and is dead after the sign-out', async () => {
  const visit = await site.visit('/playground?model=gpt-5', { as: CUSTOMER })
  const { page } = visit
  const sent = page.waitForRequest(/\/v1\/chat\/completions$/)
  await say(page, 'Hello')
  const headers = await (await sent).allHeaders()
  const key = headers['authorization']?.replace('Bearer ', '') ?? ''
  expect(headers['cookie']).toBeUndefined()
  await outcome(page).getByText('Completed').waitFor()
  const kept = await page.evaluate<string>(
    'JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.documentElement.innerHTML])',
  )
  expect(kept).not.toContain(key)
  const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] }
  expect(await callModel(site.baseUrl, { key, body })).toBe(200)
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByRole('heading', { name: 'Keys' }).waitFor()
  expect(await page.getByText(key.slice(0, 17)).count()).toBe(0)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/sign-in/)
  expect(await callModel(site.baseUrl, { key, body })).toBe(401)
  expect(visit.faults).toEqual([])
  await visit.close()
})

async function talk(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Parameters|参数/ }).click()
  await page.getByRole('button', { name: /Put in an example|填入示例/ }).click()
  await say(page, 'weather')
  await page.getByRole('textbox', { name: /What weather answers|weather 回答什么/ }).waitFor()
  await page.getByRole('link', { name: /Open the call|打开此调用/ }).waitFor()
}

expectOpenToEverybody(() => site, {
  'a conversation': { path: '/playground?model=gpt-5', prepare: talk },
  'a form': { path: '/playground?model=kling-v3' },
})
