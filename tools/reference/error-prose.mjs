/**
 * What the error table cannot say: per code what it means, what causes it, and what the reader of the page does about it.
 * Every code of `server/src/core/errors/catalogue.ts` has an entry; the page is written from both.
 */
export const ERROR_PROSE = {
  40000: {
    meaning: 'The gateway read the request and found that it cannot be served as it is.',
    causes: [
      'The body is not valid JSON, or is no JSON object. The scanner checks the whole text, not only the fields it reads.',
      'A field the gateway needs is missing or has another type; the message names it.',
      'A video task is deleted, or its content asked for, before it is finished (status 409).',
    ],
    mend: 'Send the body through a JSON parser. Look at the field named in the message. For a video task, wait until its status is `completed`.',
  },
  40002: {
    meaning: 'The request does not say which model it wants.',
    causes: ['`model` is absent, empty, or not a string.'],
    mend: 'Set `model` to a `model_id` of `GET /v1/models`.',
  },
  40003: {
    meaning: 'The body did not arrive in a form that can be read.',
    causes: [
      'The body is empty where one is needed.',
      'The connection broke before the announced length was there.',
      'A multipart body has no readable boundary.',
    ],
    mend: 'Send a body, with a `Content-Length` that matches it, or chunked. Repeat the request when the network broke.',
  },
  40004: {
    meaning: 'Two different requests carried the same `Idempotency-Key`.',
    causes: ['A client reuses one key for every request, or changed the body between two tries.'],
    mend: 'Make a new key for each request and keep it only for repeating exactly that request.',
  },
  40005: {
    meaning: 'A one-time code was not accepted.',
    causes: [
      'A digit is wrong, or the code belongs to another address, number or purpose.',
      'It is older than ten minutes, was used already, or five wrong ones were tried.',
      'A newer code was asked for since; only the newest counts.',
      'An invitation was taken back, sent again since, used by somebody else, or is over a week old.',
    ],
    mend: 'Ask for a new code and use it within ten minutes; of an invitation, ask who invited you.',
  },
  40001: {
    meaning: 'No API key came with the request.',
    causes: [
      'There is no `Authorization: Bearer …` header.',
      'The key was sent as `x-api-key` to the public address, which reads only `Authorization`; some SDKs do this unless told to use a bearer token.',
      'The key was put into the query string. It is not read there, since addresses end up in logs.',
    ],
    mend: 'Send `Authorization: Bearer <API key>`. In an SDK, use its option for an auth token and clear a competing environment variable.',
  },
  40101: {
    meaning: 'The key that was sent does not exist.',
    causes: [
      'It was deleted, was never made here, or was cut when it was copied.',
      'The member of an organisation it belonged to has left or was removed.',
    ],
    mend: 'Make a new key; a lost one cannot be shown again, since only its hash is stored.',
  },
  40102: {
    meaning: 'The key exists but was switched off.',
    causes: [
      'Its owner or an operator disabled it. This holds from the next request on, on every instance.',
      'The member it belongs to is suspended in the organisation.',
    ],
    mend: 'Enable the key, or use another.',
  },
  40103: {
    meaning: 'The key was valid until a moment that has passed.',
    causes: ['`expires_at` of the key lies in the past.'],
    mend: 'Make a new key, or move the date.',
  },
  40104: {
    meaning:
      'Nobody was signed in. The answer is the same whether the account exists or not. Where a session is good and only the present password sent with it is not, the status is 403: the session goes on.',
    causes: ['The address or number, the password, the code, or the second factor is wrong.'],
    mend: 'Check what was typed. When the password is forgotten, ask for a code and set a new one.',
  },
  40202: {
    meaning: 'Nothing can pay for this call.',
    causes: [
      'The account has no active subscription that covers the model, and API deduction access is off or Credits are not enough.',
      'It has own provider credentials, but for no vendor of a usable chain of this model.',
      'The hold for the largest possible answer is more than what is left; a smaller `max_tokens` needs a smaller hold.',
    ],
    mend: 'Subscribe, buy Credits, switch API deduction access on, add a credential of your own, or lower `max_tokens`. When the message mentions it, verify the account.',
  },
  40203: {
    meaning: 'The model asks for a level of verification or a plan that the account does not have.',
    causes: [
      '`required_verification` or `required_plan` of the model is above the account. Own provider credentials do not lift this.',
    ],
    mend: 'Do what the message names: verify the account, or subscribe to that plan. It holds at once. A refused call costs nothing.',
  },
  40301: {
    meaning: 'The key may not do this, because of the protocol group it is bound to or is not bound to.',
    causes: [
      'The gateway address was called with a key that is bound to no group.',
      'The key is bound to a group of another protocol, or the model is not in its group.',
    ],
    mend: 'Use a key of the right group, or call the public address with an unbound key.',
  },
  40302: {
    meaning: 'The key is restricted, and this request lies outside.',
    causes: [
      'The model is not in the allow list of the key.',
      'The address the request came from is not in its CIDR allow list.',
    ],
    mend: 'Use another model or network, or change the lists of the key. Behind a proxy, see that the client address is passed on.',
  },
  40303: {
    meaning:
      'The account behind the key or session is suspended, or somebody’s membership of an organisation.',
    causes: [
      'An operator suspended the account, or that of the member the key belongs to.',
      'An admin of the organisation that `Gw-Organisation` names suspended the member.',
    ],
    mend: 'Talk to the operator, or to an admin of the organisation; the message says which.',
  },
  40304: {
    meaning: 'The caller is known, but this is for another kind of caller.',
    causes: [
      'An API key was sent where a signed-in person is needed.',
      'The person is no administrator, or impersonates another account.',
      'The act asks for a session that was opened just now, or for a role the caller does not have.',
      'The person does not act for the organisation that `Gw-Organisation` or the path names, or nobody does this for one.',
      'An invitation is for another e-mail address.',
    ],
    mend: 'Sign in (again) and use the session; the message says which kind of caller is needed.',
  },
  40305: {
    meaning: 'A changing request came with a session cookie from a page of another site.',
    causes: [
      '`Origin` or `Sec-Fetch-Site` names another site, or neither came and `x-sluice-csrf` is missing.',
    ],
    mend: 'Programs send the session token as `Authorization: Bearer …` instead of the cookie. Pages are served from the address of the gateway.',
  },
  40306: {
    meaning:
      'A link to a stored video or image was followed that this gateway did not make, or whose time is over.',
    causes: ['The link was changed on its way, or is older than the video’s record (24 hours).'],
    mend: 'Ask for the video once more (`GET /v1/videos/{video_id}`) and follow the `url` of the answer.',
  },
  40307: {
    meaning: 'An account was to be made where nobody may make one by themselves.',
    causes: [
      '`SLUICE_REGISTRATION` is `closed`.',
      'It is `invited`, and the e-mail address has no invitation that can still be accepted, or a phone number was used.',
    ],
    mend: 'Ask the operator for an account, or an organisation for an invitation.',
  },
  40308: {
    meaning: 'An administrator’s session has shown no second factor, and this gateway demands one.',
    causes: [
      '`SLUICE_ADMIN_SECOND_FACTOR` is `required` and the account has no authenticator app and no passkey yet.',
      'The session began before the second factor was set up in another one.',
    ],
    mend: 'Set one up under `/api/v1/user/user/second-factors`, or sign in again. Who has lost theirs: `sluice accounts reset-second-factors`.',
  },
  40309: {
    meaning:
      'What changes how an account is entered was asked for in a session that is older than 15 minutes.',
    causes: [
      'A second factor, a linked service, an address or the first password was to be changed long after the sign-in.',
    ],
    mend: 'Sign in again and ask with the new session. The console asks for it by itself.',
  },
  40400: {
    meaning: 'There is nothing at this path.',
    causes: [
      'The path holds `/v1/v1/`: the client adds `/v1` itself, so its base address must not end with it.',
      'The path exists at the public address only, and the gateway address was called.',
    ],
    mend: 'Compare the base address with what the SDK adds to it.',
  },
  40401: {
    meaning: 'The video endpoint was called with a model that makes no videos.',
    causes: ['`support_features` of the model does not include `video`, or there is no such model.'],
    mend: 'Pick a video model from the catalogue.',
  },
  40402: {
    meaning: 'The video task is not there for this key.',
    causes: ['It was made with another key.', 'It is older than 24 hours, or was deleted.'],
    mend: 'Ask with the key that made it, and fetch results within a day.',
  },
  40403: {
    meaning: 'There is nothing under the id in the path.',
    causes: ['It was deleted, belongs to another account, or the id is mistyped.'],
    mend: 'List what there is and take the id from there.',
  },
  40500: {
    meaning: 'The path exists, but not with this HTTP method.',
    causes: ['A `GET` went where a `POST` belongs, or the other way round.'],
    mend: 'The header `Allow` names the methods.',
  },
  40900: {
    meaning: 'The thing exists, but is not in a state that allows this.',
    causes: ['Something else changed it first, or it is finished, running or gone.'],
    mend: 'Read it again and decide anew.',
  },
  41301: {
    meaning: 'The body is larger than the gateway takes.',
    causes: ['More than 100 MiB, by its announced length or while it was read.'],
    mend: 'Send images as links, or smaller ones. Nothing was forwarded and nothing is charged.',
  },
  42901: {
    meaning: 'As many calls as the key or account may have at once are running.',
    causes: [
      '`concurrency` of its policy is reached. A slot is free as soon as a call ends.',
      'The Credits are there, but running calls hold them; the message says so. See [holds](../operating/charges.md#what-is-held).',
    ],
    mend: 'Wait for `Retry-After` (one second) and repeat, run fewer calls at once, or name a smaller `max_tokens`.',
  },
  42902: {
    meaning: 'A window that counts requests, images, videos or Credits is full.',
    causes: [
      'A tier of the policy of the key or account is reached. Each window begins with its first use, not with the clock.',
    ],
    mend: 'Wait for `Retry-After`: it is the longest of all windows that refused. `error.message` names that window and when it opens again, as do `error.details.limit` and `sluice explain`. The refused call used up nothing.',
  },
  42903: {
    meaning: 'A window that counts tokens is full.',
    causes: [
      'Tokens of finished calls have reached a tier. They are counted when a call ends, so one call may overrun a tier.',
    ],
    mend: 'Wait for `Retry-After`, send smaller prompts, or ask for a larger tier.',
  },
  42904: {
    meaning: 'Every upstream of this model has asked to be left alone for a while.',
    causes: ['All chains are cooling down after rate limits of the vendors, so none was tried.'],
    mend: 'Wait for `Retry-After`, the earliest time one comes back. An operator adds chains or credentials.',
  },
  42905: {
    meaning: 'The quota of the subscription is used up and Credits may not pay.',
    causes: [
      'A quota window of the plan is full, and API deduction access is off or Credits are not enough.',
      'Running calls hold what is left, or too little for the worst case of this one; the message says so. See [holds](../operating/charges.md#what-is-held).',
    ],
    mend: 'Wait for `Retry-After`, upgrade, or let Credits pay. Where running calls hold it, name a smaller `max_tokens`.',
  },
  42906: {
    meaning:
      'The monthly consumption cap of the account, or of the member of the organisation whose key called, is reached, or this call could pass it; the message says whose.',
    causes: [
      'What was spent outside of the subscription this month, together with what running calls may still cost, leaves no room.',
    ],
    mend: 'Raise `monthly_cap_yuan` (of a member: ask an admin of the organisation), name a smaller `max_tokens`, or wait for the next calendar month.',
  },
  42908: {
    meaning: 'Too many tries to sign in or to enter a code, or too many invitations.',
    causes: [
      'A password or code was tried often, for this account or from this address.',
      'Many people were invited, or one of them often; or many organisations were made.',
    ],
    mend: 'Wait for `Retry-After`. Ask for a new code when the old one is used up.',
  },
  42910: {
    meaning: 'The video seconds of a window are used up.',
    causes: ['Declared seconds of finished and running videos have reached a tier.'],
    mend: 'Wait for `Retry-After`, or declare fewer `seconds`.',
  },
  50000: {
    meaning: 'Something went wrong inside the gateway that is nobody else’s fault.',
    causes: ['A mistake in the gateway. The log holds it under the `request_id` of the answer.'],
    mend: 'Repeat the request once. If it happens again, give the operator the `request_id`; the call was not charged unless the log says so.',
  },
  50201: {
    meaning: 'No upstream can serve this model.',
    causes: [
      'There is no model of this id, or it is disabled or in maintenance.',
      'Each of its chains is disabled or its vendor could not be reached.',
      'The vendor refused the credential of the platform; its own words are in `upstream_body`.',
    ],
    mend: 'Compare `model` with `GET /v1/models`. An operator looks at the attempts in the log row.',
  },
  50210: {
    meaning: 'The video was made, but its vendor no longer has it.',
    causes: ['The vendor’s link died before the gateway could fetch the file.'],
    mend: 'Make the video again.',
  },
  50301: {
    meaning: 'The gateway is not taking calls at this moment.',
    causes: [
      'The instance is shutting down; its running calls end first.',
      'Its database cannot be reached.',
      'The bodies of running calls together have reached their bound.',
      'An upload is too large for memory, and the disk of the gateway is full.',
    ],
    mend: 'Repeat after `Retry-After`; another instance answers when there is one.',
  },
  50401: {
    meaning: 'No upstream answered in time.',
    causes: [
      'The vendor sent nothing within the first-byte time-out of its chain, or all attempts together took longer than the bound.',
    ],
    mend: 'Repeat, or use `stream: true` for long answers. An operator sees each attempt and its times in the log row.',
  },
}
