/** Rows of the call log as a plain call leaves them, for databases that are filled without calling. */

export const LOG_COLUMNS = `call_id, request_id, created_at, ended_at, account_id, key_id, model, http_status, app_id, custom_id,
  end_user, amount, deducted, detail`

/** What stands in the row's `detail`, as JSON. */
export function logDetail(
  call: {
    readonly model: string
    readonly vendor: string
    readonly input: number
    readonly output: number
  } = {
    model: 'model_1',
    vendor: 'acme',
    input: 1000,
    output: 100,
  },
): string {
  const { model, vendor, input, output } = call
  return JSON.stringify({
    endpoint: '/v1/chat/completions',
    clientProtocol: 'chat',
    upstreamProtocol: 'chat',
    modelRequested: model,
    model,
    vendorCode: vendor,
    chainId: 1,
    stream: true,
    usage: { input, output },
    usageSource: 'upstream',
    images: 0,
    recipe: {
      creditsPerUnit: '1000',
      rateMultiplier: '1',
      userRate: '100',
      lines: [
        { class: 'input', quantity: input, price: '1', per: 1_000_000 },
        { class: 'output', quantity: output, price: '10', per: 1_000_000 },
      ],
      amount: '2000000',
    },
    subscriptionCovered: false,
    byok: false,
    capped: false,
    droppedFields: [],
    attempts: [],
    firstByteMs: 300,
    durationMs: 2000,
    clientGone: false,
    ending: 'complete',
  })
}
