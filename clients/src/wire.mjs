/** What the model says, in the streamed form of each protocol; and what the client said, read from its request. */

const event = (data, name) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
const USAGE = { input: 100, output: 20 }

/** `say`: `{text}` or `{tool: {name, arguments}}`. */
export const WIRE = {
  chat: {
    path: '/v1/chat/completions',
    read: (body) => ({
      tools: (body.tools ?? []).map(({ function: tool }) => ({ name: tool.name, schema: tool.parameters })),
      results: body.messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
    }),
    write(say, id) {
      const chunk = (delta, finish = null) =>
        event({
          id,
          object: 'chat.completion.chunk',
          created: 1,
          model: 'agent',
          choices: [{ index: 0, delta, finish_reason: finish }],
        })
      const call = say.tool && {
        index: 0,
        id: `call_${id}`,
        type: 'function',
        function: { name: say.tool.name, arguments: '' },
      }
      const spoken = say.tool
        ? [
            chunk({ tool_calls: [call] }),
            ...halves(JSON.stringify(say.tool.arguments)).map((part) =>
              chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
            ),
          ]
        : halves(say.text).map((part) => chunk({ content: part }))
      return [
        chunk({ role: 'assistant' }),
        ...spoken,
        chunk({}, say.tool ? 'tool_calls' : 'stop'),
        event({
          id,
          object: 'chat.completion.chunk',
          created: 1,
          model: 'agent',
          choices: [],
          usage: {
            prompt_tokens: USAGE.input,
            completion_tokens: USAGE.output,
            total_tokens: USAGE.input + USAGE.output,
          },
        }),
        'data: [DONE]\n\n',
      ]
    },
    whole: (say, id) => ({
      id,
      object: 'chat.completion',
      created: 1,
      model: 'agent',
      choices: [{ index: 0, message: { role: 'assistant', content: say.text ?? '' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: USAGE.input,
        completion_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
      },
    }),
  },

  responses: {
    path: '/v1/responses',
    read: (body) => ({
      tools: (body.tools ?? [])
        .flatMap((tool) => (tool.type === 'namespace' ? tool.tools : [tool]))
        .filter(({ type }) => type === 'function')
        .map(({ name, parameters }) => ({ name, schema: parameters })),
      results: [body.input]
        .flat()
        .filter((item) => typeof item === 'object' && item.type === 'function_call_output')
        .map(({ output }) => textOf(output)),
    }),
    write(say, id) {
      let sequence = 0
      const tell = (type, fields) => event({ type, sequence_number: sequence++, ...fields }, type)
      const item = say.tool
        ? {
            id: `fc_${id}`,
            type: 'function_call',
            call_id: `call_${id}`,
            name: say.tool.name,
            arguments: JSON.stringify(say.tool.arguments),
            status: 'completed',
          }
        : {
            id: `msg_${id}`,
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: say.text, annotations: [] }],
          }
      const place = { output_index: 0, item_id: item.id }
      const begun = say.tool
        ? { ...item, arguments: '', status: 'in_progress' }
        : { ...item, content: [], status: 'in_progress' }
      const response = (status, output) => ({
        id: `resp_${id}`,
        object: 'response',
        created_at: 1,
        status,
        model: 'agent',
        output,
        error: null,
        incomplete_details: null,
        instructions: null,
        metadata: {},
        parallel_tool_calls: true,
        temperature: 1,
        tool_choice: 'auto',
        tools: [],
        top_p: 1,
        usage:
          status === 'completed'
            ? {
                input_tokens: USAGE.input,
                input_tokens_details: { cached_tokens: 0 },
                output_tokens: USAGE.output,
                output_tokens_details: { reasoning_tokens: 0 },
                total_tokens: USAGE.input + USAGE.output,
              }
            : null,
      })
      const inside = say.tool
        ? [
            ...halves(item.arguments).map((delta) =>
              tell('response.function_call_arguments.delta', { ...place, delta }),
            ),
            tell('response.function_call_arguments.done', { ...place, arguments: item.arguments }),
          ]
        : [
            tell('response.content_part.added', {
              ...place,
              content_index: 0,
              part: { type: 'output_text', text: '', annotations: [] },
            }),
            ...halves(say.text).map((delta) =>
              tell('response.output_text.delta', { ...place, content_index: 0, delta, logprobs: [] }),
            ),
            tell('response.output_text.done', { ...place, content_index: 0, text: say.text, logprobs: [] }),
            tell('response.content_part.done', { ...place, content_index: 0, part: item.content[0] }),
          ]
      return [
        tell('response.created', { response: response('in_progress', []) }),
        tell('response.output_item.added', { output_index: 0, item: begun }),
        ...inside,
        tell('response.output_item.done', { output_index: 0, item }),
        tell('response.completed', { response: response('completed', [item]) }),
      ]
    },
    whole: (say, id) => ({
      id: `resp_${id}`,
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'agent',
      output: [
        {
          id: `msg_${id}`,
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: say.text ?? '', annotations: [] }],
        },
      ],
      usage: {
        input_tokens: USAGE.input,
        output_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
      },
    }),
  },

  messages: {
    path: '/v1/messages',
    read: (body) => ({
      tools: (body.tools ?? [])
        .filter(({ input_schema }) => input_schema !== undefined)
        .map(({ name, input_schema }) => ({ name, schema: input_schema })),
      results: body.messages
        .flatMap(({ content }) => (Array.isArray(content) ? content : []))
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => textOf(content)),
    }),
    write(say, id) {
      const block = say.tool
        ? { type: 'tool_use', id: `toolu_${id}`, name: say.tool.name, input: {} }
        : { type: 'text', text: '' }
      const deltas = say.tool
        ? halves(JSON.stringify(say.tool.arguments)).map((part) => ({
            type: 'input_json_delta',
            partial_json: part,
          }))
        : halves(say.text).map((part) => ({ type: 'text_delta', text: part }))
      const tell = (data) => event(data, data.type)
      return [
        tell({
          type: 'message_start',
          message: {
            id: `msg_${id}`,
            type: 'message',
            role: 'assistant',
            model: 'agent',
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: USAGE.input, output_tokens: 1 },
          },
        }),
        tell({ type: 'content_block_start', index: 0, content_block: block }),
        ...deltas.map((delta) => tell({ type: 'content_block_delta', index: 0, delta })),
        tell({ type: 'content_block_stop', index: 0 }),
        tell({
          type: 'message_delta',
          delta: { stop_reason: say.tool ? 'tool_use' : 'end_turn', stop_sequence: null },
          usage: { output_tokens: USAGE.output },
        }),
        tell({ type: 'message_stop' }),
      ]
    },
    whole: (say, id) => ({
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: 'agent',
      content: [{ type: 'text', text: say.text ?? '' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
    }),
  },

  gemini: {
    path: undefined,
    read: (body) => ({
      tools: (body.tools ?? [])
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
        .map(({ name, parametersJsonSchema, parameters }) => ({
          name,
          schema: parametersJsonSchema ?? parameters,
        })),
      results: body.contents
        .flatMap(({ parts = [] }) => parts)
        .filter(({ functionResponse }) => functionResponse !== undefined)
        .map(({ functionResponse }) => JSON.stringify(functionResponse.response)),
    }),
    write(say, id) {
      const chunk = (parts, finish) =>
        event({
          responseId: id,
          modelVersion: 'agent',
          candidates: [
            {
              index: 0,
              content: { role: 'model', parts },
              ...(finish === undefined ? {} : { finishReason: finish }),
            },
          ],
          usageMetadata: {
            promptTokenCount: USAGE.input,
            candidatesTokenCount: USAGE.output,
            totalTokenCount: USAGE.input + USAGE.output,
          },
        })
      if (say.tool)
        return [chunk([{ functionCall: { name: say.tool.name, args: say.tool.arguments } }], 'STOP')]
      const [first, second] = halves(say.text)
      return [chunk([{ text: first }]), chunk([{ text: second }], 'STOP')]
    },
    whole: (say, id) => ({
      responseId: id,
      modelVersion: 'agent',
      candidates: [
        {
          index: 0,
          content: { role: 'model', parts: [{ text: say.text ?? '' }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: {
        promptTokenCount: USAGE.input,
        candidatesTokenCount: USAGE.output,
        totalTokenCount: USAGE.input + USAGE.output,
      },
    }),
  },
}

export const PROTOCOLS = Object.keys(WIRE)

/** Cut in two, so that every client has to put something together. */
function halves(text) {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

/** Content as a string, or as parts with text in them. */
function textOf(content) {
  if (typeof content === 'string') return content
  return (content ?? [])
    .map((part) => (typeof part === 'string' ? part : (part.text ?? JSON.stringify(part))))
    .join('\n')
}
