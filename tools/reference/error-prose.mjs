/**
 * What the error table cannot say: per code what it means, what causes it, and how to fix it.
 * Every code of `server/src/core/errors/catalogue.ts` has an entry; the page is written from both.
 */
export const ERROR_PROSE = {
  40000: {
    meaning: 'The request is invalid and cannot be served in this form.',
    causes: [
      'The body is not valid JSON, or is not a JSON object. The whole text is checked, not only the fields that are used.',
      'A field the gateway needs is missing or has another type; the message names it.',
      'A video task was deleted, or its content requested, before it was finished (status 409).',
    ],
    mend: 'Check the body with a JSON parser. Correct the field named in the message. For a video task, wait until its status is `completed`.',
  },
  40002: {
    meaning: 'The request names no model.',
    causes: ['`model` is absent, empty, or not a string.'],
    mend: 'Set `model` to a `model_id` of `GET /v1/models`.',
  },
  40003: {
    meaning: 'The body could not be read.',
    causes: [
      'The body is empty where one is needed.',
      'The connection broke before the announced length had arrived.',
      'A multipart body has no readable boundary.',
    ],
    mend: 'Send a body with a matching `Content-Length`, or chunked. Repeat the request if the network failed.',
  },
  40004: {
    meaning: 'Two different requests had the same `Idempotency-Key`.',
    causes: ['A client reuses one key for every request, or changed the body between two attempts.'],
    mend: 'Create a new key for each request and reuse it only to repeat exactly that request.',
  },
  40005: {
    meaning: 'A one-time code was not accepted.',
    causes: [
      'A digit is wrong, or the code belongs to another address, number or purpose.',
      'It is older than ten minutes, was used already, or five wrong codes were entered.',
      'A newer code was asked for since; only the newest counts.',
      'An invitation was withdrawn, sent again, used by another person, or is more than a week old.',
    ],
    mend: 'Request a new code and use it within ten minutes; for an invitation, ask the person who invited you.',
  },
  40001: {
    meaning: 'The request has no API key.',
    causes: [
      'There is no `Authorization: Bearer …` header.',
      'The key was sent as `x-api-key` to the public address, which reads only `Authorization`; some SDKs do this unless they are configured to use a bearer token.',
      'The key was in the query string. It is not read there, because addresses end up in logs.',
    ],
    mend: 'Send `Authorization: Bearer <API key>`. In an SDK, use its option for an auth token and clear a competing environment variable.',
  },
  40101: {
    meaning: 'The key that was sent does not exist.',
    causes: [
      'It was deleted, was never created here, or was copied incompletely.',
      'The member of an organisation it belonged to has left or was removed.',
    ],
    mend: 'Create a new key; a lost one cannot be shown again, because only its hash is stored.',
  },
  40102: {
    meaning: 'The key exists but is disabled.',
    causes: [
      'Its owner or an operator disabled it. This takes effect with the next request, on every instance.',
      'The member it belongs to is suspended in the organisation.',
    ],
    mend: 'Enable the key, or use another.',
  },
  40103: {
    meaning: 'The key has expired.',
    causes: ['`expires_at` of the key is in the past.'],
    mend: 'Create a new key, or change the date.',
  },
  40104: {
    meaning:
      'The sign-in was refused. The answer is the same whether the account exists or not. If the session is valid and only the current password sent with it is wrong, the status is 403, and the session stays valid.',
    causes: ['The address or number, the password, the code, or the second factor is wrong.'],
    mend: 'Check the input. If the password is forgotten, request a code and set a new one.',
  },
  40202: {
    meaning: 'There is no source of payment for this call.',
    causes: [
      'The account has no active subscription that covers the model, and API deduction access is off or Credits are insufficient.',
      'It has own provider credentials, but for no vendor of a usable chain of this model.',
      'The hold for the largest possible answer is more than the available Credits; a smaller `max_tokens` needs a smaller hold.',
    ],
    mend: 'Subscribe, buy Credits, switch API deduction access on, add your own provider credential, or lower `max_tokens`. If the message mentions it, verify the account.',
  },
  40203: {
    meaning: 'The model requires a level of verification or a plan that the account does not have.',
    causes: [
      '`required_verification` or `required_plan` of the model is above that of the account. It applies with own provider credentials too.',
    ],
    mend: 'As the message says, verify the account or subscribe to that plan. This takes effect at once. A refused call costs nothing.',
  },
  40301: {
    meaning: 'The protocol group of the key, or the lack of one, does not allow this call.',
    causes: [
      'The gateway address was called with a key that is bound to no group.',
      'The key is bound to a group of another protocol, or the model is not in its group.',
    ],
    mend: 'Use a key of the right group, or call the public address with an unbound key.',
  },
  40302: {
    meaning: 'The key is restricted and does not allow this request.',
    causes: [
      'The model is not in the allow list of the key.',
      'The address the request came from is not in its CIDR allow list.',
    ],
    mend: 'Use another model or network, or change the lists of the key. Behind a proxy, make sure that the client address is forwarded.',
  },
  40303: {
    meaning: 'The account of the key or session is suspended, or a membership of an organisation.',
    causes: [
      'An operator suspended the account, or the account of the member to whom the key belongs.',
      'An admin of the organisation that `Gw-Organisation` names suspended the member.',
    ],
    mend: 'Contact the operator, or an admin of the organisation; the message says which.',
  },
  40304: {
    meaning: 'The caller is authenticated, but the request needs another kind of caller.',
    causes: [
      'An API key was sent where a signed-in person is needed.',
      'The person is not an administrator, or impersonates another account.',
      'The request requires a session that began recently, or a role the caller does not have.',
      'The person may not act for the organisation that `Gw-Organisation` or the path names, or the request is not possible for organisations.',
      'An invitation is for another e-mail address.',
    ],
    mend: 'Sign in (again) and use the session; the message says which kind of caller is needed.',
  },
  40305: {
    meaning: 'A changing request came with a session cookie from a page of another site.',
    causes: [
      '`Origin` or `Sec-Fetch-Site` names another site, or neither was sent and `x-sluice-csrf` is missing.',
    ],
    mend: 'Programs send the session token as `Authorization: Bearer …` instead of the cookie. Serve pages from the address of the gateway.',
  },
  40306: {
    meaning: 'The link to a stored video or image was not created by this gateway, or has expired.',
    causes: ['The link was altered, or is older than the video’s record (24 hours).'],
    mend: 'Request the video again (`GET /v1/videos/{video_id}`) and use the `url` of the answer.',
  },
  40307: {
    meaning: 'The request would create an account, but registration is closed or only by invitation.',
    causes: [
      '`SLUICE_REGISTRATION` is `closed`.',
      'It is `invited`, and the e-mail address has no invitation that can still be accepted, or a phone number was used.',
    ],
    mend: 'Ask the operator for an account, or an organisation for an invitation.',
  },
  40308: {
    meaning: 'An administrator’s session has no second factor, and this gateway requires one.',
    causes: [
      '`SLUICE_ADMIN_SECOND_FACTOR` is `required` and the account has no authenticator app and no passkey yet.',
      'The session began before the second factor was set up in another one.',
    ],
    mend: 'Set one up under `/api/v1/user/user/second-factors`, or sign in again. If the second factor is lost: `sluice accounts reset-second-factors`.',
  },
  40309: {
    meaning: 'A change to the means of sign-in was requested in a session that is older than 15 minutes.',
    causes: [
      'A second factor, a linked service, an address or the first password was to be changed more than 15 minutes after the sign-in.',
    ],
    mend: 'Sign in again and repeat the request with the new session. The console does this by itself.',
  },
  40400: {
    meaning: 'There is nothing at this path.',
    causes: [
      'The path contains `/v1/v1/`: the client adds `/v1` itself, so its base address must not end with it.',
      'The path exists at the public address only, and the gateway address was called.',
    ],
    mend: 'Check the base address and the path that the SDK appends to it.',
  },
  40401: {
    meaning: 'The video endpoint was called with a model that does not produce videos.',
    causes: ['`support_features` of the model does not include `video`, or there is no such model.'],
    mend: 'Pick a video model from the catalogue.',
  },
  40402: {
    meaning: 'There is no such video task for this key.',
    causes: ['It was created with another key.', 'It is older than 24 hours, or was deleted.'],
    mend: 'Use the key that created it, and fetch results within a day.',
  },
  40403: {
    meaning: 'There is nothing under the id in the path.',
    causes: ['It was deleted, belongs to another account, or the id is mistyped.'],
    mend: 'List the existing objects and take the id from there.',
  },
  40500: {
    meaning: 'The path exists, but not with this HTTP method.',
    causes: ['`GET` was used instead of `POST`, or the reverse.'],
    mend: 'Use a method that the header `Allow` names.',
  },
  40900: {
    meaning: 'The object exists, but is not in a state that allows this.',
    causes: ['It was changed by another request, or it is finished, running or deleted.'],
    mend: 'Read it again and decide on its new state.',
  },
  41301: {
    meaning: 'The body is larger than the gateway accepts.',
    causes: ['More than 100 MiB, by its announced length or while it was read.'],
    mend: 'Send images as links, or smaller ones. Nothing was forwarded and nothing is charged.',
  },
  42901: {
    meaning: 'The key or account has as many calls running as it may have at once.',
    causes: [
      '`concurrency` of its policy is reached. A slot is free as soon as a call ends.',
      'The account has the Credits, but running calls hold them; the message says so. See [holds](../operating/charges.md#what-is-held).',
    ],
    mend: 'Wait for `Retry-After` (one second) and repeat, run fewer calls at once, or send a smaller `max_tokens`.',
  },
  42902: {
    meaning: 'A window that counts requests, images, videos or Credits is full.',
    causes: [
      'A tier of the policy of the key or account is reached. Each window begins with its first use, not at a fixed time.',
    ],
    mend: 'Wait for `Retry-After`: it is the longest of all windows that refused. `error.message` names that window and when it opens again, as do `error.details.limit` and `sluice explain`. The refused call does not count.',
  },
  42903: {
    meaning: 'A window that counts tokens is full.',
    causes: [
      'Tokens of finished calls have reached a tier. They are counted when a call ends, so one call may overrun a tier.',
    ],
    mend: 'Wait for `Retry-After`, send smaller prompts, or request a higher limit.',
  },
  42904: {
    meaning: 'Every upstream of this model has asked for a pause.',
    causes: ['All chains are in a cooldown after rate limits of the vendors, so none was tried.'],
    mend: 'Wait for `Retry-After`, the earliest time at which one is available again. As an operator, add chains or credentials.',
  },
  42905: {
    meaning: 'The quota of the subscription is used up, and Credits cannot pay.',
    causes: [
      'A quota window of the plan is full, and API deduction access is off or Credits are insufficient.',
      'Running calls hold the remaining quota, or leave too little for the worst case of this one; the message says so. See [holds](../operating/charges.md#what-is-held).',
    ],
    mend: 'Wait for `Retry-After`, upgrade, or let Credits pay. If running calls hold the quota, send a smaller `max_tokens`.',
  },
  42906: {
    meaning:
      'The monthly consumption cap of the account, or of the member of the organisation whose key was used, is reached, or this call could pass it; the message says whose.',
    causes: [
      'The amount spent outside of the subscription this month, together with the possible cost of running calls, has reached the cap.',
    ],
    mend: 'Raise `monthly_cap_yuan` (of a member: ask an admin of the organisation), send a smaller `max_tokens`, or wait for the next calendar month.',
  },
  42908: {
    meaning: 'Too many attempts to sign in or to enter a code, or too many invitations.',
    causes: [
      'A password or code was tried too often, for this account or from this address.',
      'Too many people were invited, or one of them too often; or too many organisations were created.',
    ],
    mend: 'Wait for `Retry-After`. Request a new code if the attempts at the old one are used up.',
  },
  42910: {
    meaning: 'The video seconds of a window are used up.',
    causes: ['The declared seconds of finished and running videos have reached a limit.'],
    mend: 'Wait for `Retry-After`, or declare fewer `seconds`.',
  },
  50000: {
    meaning: 'An internal error of the gateway.',
    causes: ['A bug in the gateway. The log has the details under the `request_id` of the answer.'],
    mend: 'Repeat the request once. If it happens again, give the operator the `request_id`; the call was not charged unless the log says so.',
  },
  50201: {
    meaning: 'No upstream can serve this model.',
    causes: [
      'There is no model with this id, or it is disabled or in maintenance.',
      'Each of its chains is disabled or its vendor could not be reached.',
      'The vendor refused the credential of the platform; its answer is in `upstream_body`.',
    ],
    mend: 'Compare `model` with `GET /v1/models`. As an operator, see the attempts in the log row.',
  },
  50210: {
    meaning: 'The video was created, but its vendor no longer has it.',
    causes: ['The vendor’s link expired before the gateway could fetch the file.'],
    mend: 'Create the video again.',
  },
  50301: {
    meaning: 'The gateway does not accept calls at the moment.',
    causes: [
      'The instance is shutting down; its running calls end first.',
      'Its database cannot be reached.',
      'The bodies of running calls together have reached their limit.',
      'An upload is too large for memory, and the disk of the gateway is full.',
    ],
    mend: 'Repeat after `Retry-After`; another instance, if there is one, answers.',
  },
  50401: {
    meaning: 'No upstream answered in time.',
    causes: [
      'The vendor sent nothing within the first-byte time-out of its chain, or all attempts together took longer than the limit.',
    ],
    mend: 'Repeat, or use `stream: true` for long answers. As an operator, see each attempt and its times in the log row.',
  },
}
