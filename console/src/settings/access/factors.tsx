import { Button, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { factorsQuery, removePasskey, removeTotp, renewRecoveryCodes } from '../../api/access.ts'
import { ApiError } from '../../api/api-error.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { addPasskey } from '../../parts/identity/passkey.ts'
import { RecoveryCodes } from '../../parts/identity/recovery-codes.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { useFormat } from '../../parts/values/format.ts'
import { Section } from '../section.tsx'
import styles from '../settings.module.css'
import { TotpDialog } from './totp-dialog.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

type Factors = NonNullable<Awaited<ReturnType<NonNullable<typeof factorsQuery.queryFn>>>>

/** Second factors: passkeys, authenticator app, and recovery codes. */
export function Factors() {
  const { t } = useTranslation()
  const factors = useQuery(factorsQuery)
  const [codes, setCodes] = useState<readonly string[]>([])
  return (
    <>
      <Loaded query={factors} height={220}>
        {(data) => (
          <>
            <Section title={t('settings.passkeys')} hint={t('settings.passkeysHint')}>
              <Passkeys factors={data} onCodes={setCodes} />
            </Section>
            <Section title={t('settings.app')} hint={t('settings.appHint')}>
              <App factors={data} onCodes={setCodes} />
            </Section>
            {(data.totp || data.passkeys.length > 0) && (
              <Section title={t('factors.recovery')} hint={t('recovery.lead')}>
                <Recovery factors={data} onCodes={setCodes} />
              </Section>
            )}
          </>
        )}
      </Loaded>
      {codes.length > 0 && (
        <Dialog onClose={() => setCodes([])} title={t('factors.recovery')} closeOnClickOutside={false}>
          <RecoveryCodes codes={codes} onKept={() => setCodes([])} />
        </Dialog>
      )}
    </>
  )
}

interface FactorProps {
  readonly factors: Factors
  /** Called with new recovery codes; none: the account already had some. */
  readonly onCodes: (codes: readonly string[]) => void
}

function useReload(): () => void {
  const queryClient = useQueryClient()
  return () => inBackground(queryClient.invalidateQueries({ queryKey: factorsQuery.queryKey }))
}

function Passkeys({ factors: { passkeys }, onCodes }: FactorProps) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <>
      {passkeys.length > 0 && (
        <ul className={styles.list}>
          {passkeys.map(({ id, name: label, created_at: at, last_used_at: used }) => (
            <li key={id}>
              <Icon name="passkey" />
              <span className={styles.words}>
                {label}
                <small>
                  {t('settings.added', { day: format.date(at) })}
                  {used !== null && ` · ${t('settings.used', { ago: format.ago(used) })}`}
                </small>
              </span>
              <Remove
                label={t('settings.removePasskey', { name: label })}
                text={t('settings.removePasskeyText', { name: label })}
                onRemove={() => removePasskey(id)}
              />
            </li>
          ))}
        </ul>
      )}
      <AddPasskey onCodes={onCodes} />
    </>
  )
}

function AddPasskey({ onCodes }: Pick<FactorProps, 'onCodes'>) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const reload = useReload()
  const [name, setName] = useState('')
  const add = useMutation({
    mutationFn: () => addPasskey(name.trim() === '' ? t('factors.passkey') : name.trim()),
    onSuccess: ({ recovery_codes: codes }) => {
      setName('')
      reload()
      onCodes(codes)
    },
  })
  const { error } = add
  return (
    <>
      <div className={styles.acts}>
        <TextInput
          aria-label={t('settings.passkeyName')}
          placeholder={t('settings.passkeyName')}
          value={name}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <Button
          variant="default"
          leftSection={<Icon name="plus" />}
          loading={add.isPending}
          onClick={() => add.mutate()}
        >
          {t('settings.addPasskey')}
        </Button>
      </div>
      <FormProblem
        text={
          error === null ? undefined : error instanceof ApiError ? problemText(error) : t('signIn.noPasskey')
        }
      />
    </>
  )
}

function App({ factors: { totp }, onCodes }: FactorProps) {
  const { t } = useTranslation()
  const reload = useReload()
  const [adding, setAdding] = useState(false)
  return (
    <>
      {totp ? (
        <ul className={styles.list}>
          <li>
            <Icon name="phone" />
            <span className={styles.words}>{t('settings.appOn')}</span>
            <Remove
              label={t('settings.removeApp')}
              text={t('settings.removeAppText')}
              onRemove={removeTotp}
            />
          </li>
        </ul>
      ) : (
        <div>
          <Button variant="default" leftSection={<Icon name="plus" />} onClick={() => setAdding(true)}>
            {t('settings.addApp')}
          </Button>
        </div>
      )}
      {adding && (
        <TotpDialog
          onClose={() => setAdding(false)}
          onAdded={(codes) => {
            setAdding(false)
            reload()
            onCodes(codes)
          }}
        />
      )}
    </>
  )
}

function Recovery({ factors: { recovery_codes_left: left }, onCodes }: FactorProps) {
  const { t } = useTranslation()
  const reload = useReload()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <p>{t('settings.codesLeft', { count: left })}</p>
      <div>
        <Button variant="default" onClick={() => setAsking(true)}>
          {t('settings.newCodes')}
        </Button>
      </div>
      {asking && (
        <Confirm
          title={t('settings.newCodes')}
          action={t('settings.newCodes')}
          onConfirm={async () => {
            const { recovery_codes: codes } = await renewRecoveryCodes()
            reload()
            onCodes(codes)
          }}
          onClose={() => setAsking(false)}
        >
          {t('settings.newCodesText')}
        </Confirm>
      )}
    </>
  )
}

interface RemoveProps {
  readonly label: string
  readonly text: string
  readonly onRemove: () => Promise<unknown>
}

function Remove({ label, text, onRemove }: RemoveProps): ReactNode {
  const { t } = useTranslation()
  const reload = useReload()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="subtle" size="xs" aria-label={label} onClick={() => setAsking(true)}>
        {t('settings.remove')}
      </Button>
      {asking && (
        <Confirm
          title={label}
          action={t('settings.remove')}
          onConfirm={async () => {
            await onRemove()
            reload()
          }}
          onClose={() => setAsking(false)}
        >
          <Marked text={text} />
        </Confirm>
      )}
    </>
  )
}
