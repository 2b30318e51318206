import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useContext } from 'react'
import { type AccountKey, changeKeyOf, type MadeKey, makeKeyOf } from '../../api/operator/accounts.ts'
import { anyModelsQuery } from '../../api/operator/catalogue.ts'
import { anyGroupsQuery } from '../../api/operator/groups.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { KeyFields } from '../../parts/keys/key-fields.tsx'
import { bodyOf, type KeyValues, valuesOf } from '../../parts/keys/key-values.ts'
import { useKeyRules } from '../../parts/keys/use-key-rules.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { TimeZone } from '../../parts/values/format.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface AccountKeyFormProps {
  readonly account: string
  /** undefined: a new key. */
  readonly of: AccountKey | undefined
  readonly onClose: () => void
  readonly onMade: (made: MadeKey) => void
}

/** Creates or changes a key of any account. */
export function AccountKeyForm({ account, of, onClose, onMade }: AccountKeyFormProps) {
  const { t } = useTranslation()
  const timeZone = useContext(TimeZone)
  const queryClient = useQueryClient()
  const { data: models = [] } = useQuery(anyModelsQuery)
  const { data: groups = [] } = useQuery(anyGroupsQuery)
  const form = useForm<KeyValues>({ initialValues: valuesOf(of, timeZone), validate: useKeyRules() })
  const sending = useSubmit(form, {
    send: async (values) => {
      const body = bodyOf(values, of, timeZone)
      if (of === undefined) return makeKeyOf(account, body)
      await changeKeyOf(account, of.id, body)
      return undefined
    },
    onDone: (made) => {
      for (const key of ['accounts', 'audit'])
        inBackground(queryClient.invalidateQueries({ queryKey: [key] }))
      if (made === undefined) onClose()
      else onMade(made)
    },
  })
  return (
    <Dialog
      title={of === undefined ? t('keys.create') : t('keys.editTitle', { name: of.name })}
      size={640}
      onClose={onClose}
    >
      <FormFrame sending={sending} action={of === undefined ? t('keys.create') : undefined} onClose={onClose}>
        <KeyFields form={form} models={models.map(({ model_id: id }) => id)} groups={groups} />
      </FormFrame>
    </Dialog>
  )
}
