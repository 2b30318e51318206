import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type Credential, changeCredential, testCredential } from '../../api/operator/catalogue.ts'
import { usePolicyWords } from '../../parts/limits/use-policy-words.ts'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { useFormat } from '../../parts/values/format.ts'
import operator from '../parts/operator.module.css'
import { useFieldName } from './credential-words.ts'
import { VendorState } from './vendor-state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** One credential: whether a secret is stored, and whether the vendor accepts it. */
export function CredentialRow({ of, onEdit }: { readonly of: Credential; readonly onEdit: () => void }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const problemText = useProblemText()
  const policyWords = usePolicyWords()
  const called = useFieldName()
  const renew = () => queryClient.invalidateQueries({ queryKey: ['credentials'] })
  const test = useMutation({ mutationFn: () => testCredential(of.id) })
  const isOn = of.status === 'enabled'
  const turn = useMutation({
    mutationFn: () => changeCredential(of.id, { status: isOn ? 'disabled' : 'enabled' }),
    onSuccess: renew,
  })
  const error = test.error ?? turn.error
  const set = [...(of.secret_set ? [t('vendors.key')] : []), ...of.fields_set.map(called)].join(', ')
  return (
    <div className={operator.card}>
      <div className={operator.cardHead}>
        <b>{of.name}</b>
        <VendorState status={of.status} />
      </div>
      <p>
        {set === '' ? t('vendors.nothingSet') : t('vendors.isSet', { names: set })} · {policyWords(of.limits)}
      </p>
      {test.data !== undefined && <Told of={test.data} />}
      <FormProblem text={error === null ? undefined : problemText(error)} />
      <span className={operator.acts}>
        <Button variant="default" size="xs" loading={test.isPending} onClick={() => test.mutate()}>
          {t('vendors.test')}
        </Button>
        <Button variant="default" size="xs" onClick={onEdit}>
          {t('vendors.change')}
        </Button>
        <Button variant="default" size="xs" loading={turn.isPending} onClick={() => turn.mutate()}>
          {t(isOn ? 'vendors.disable' : 'vendors.enable')}
        </Button>
      </span>
    </div>
  )
}

function Told({ of }: { readonly of: Awaited<ReturnType<typeof testCredential>> }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <p role="status" className={operator.said}>
      {of.ok ? (
        t('vendors.testGood', { took: of.duration_ms === null ? '' : format.duration(of.duration_ms) })
      ) : (
        <code>
          {[of.status, of.outcome].filter((each) => each !== null).join(' ')}
          {of.message === null ? '' : `: ${of.message}`}
        </code>
      )}
    </p>
  )
}
