package choir

// The reasons to refuse one field, with RefuseField. Their sentences begin with {field}.
const (
	ReasonFieldRequired       Reason = "field_required"
	ReasonFieldUnknown        Reason = "field_unknown"
	ReasonFieldUnknownMeant   Reason = "field_unknown_meant"
	ReasonFieldUnknownKnown   Reason = "field_unknown_known"
	ReasonFieldShort          Reason = "field_short"
	ReasonFieldLong           Reason = "field_long"
	ReasonFieldFew            Reason = "field_few"
	ReasonFieldMany           Reason = "field_many"
	ReasonFieldFewBytes       Reason = "field_few_bytes"
	ReasonFieldManyBytes      Reason = "field_many_bytes"
	ReasonFieldRange          Reason = "field_range"
	ReasonFieldNoBoolean      Reason = "field_no_boolean"
	ReasonFieldNoNumber       Reason = "field_no_number"
	ReasonFieldNoText         Reason = "field_no_text"
	ReasonFieldNoList         Reason = "field_no_list"
	ReasonFieldNoObject       Reason = "field_no_object"
	ReasonFieldNoTime         Reason = "field_no_time"
	ReasonFieldNoBase64       Reason = "field_no_base64"
	ReasonProjectNameRule     Reason = "project_name_rule"
	ReasonFieldBeforeFrom     Reason = "field_before_from"
	ReasonOnlyForRequest      Reason = "only_for_request"
	ReasonOnlyForMinimised    Reason = "only_for_minimised"
	ReasonOnlyForSnapped      Reason = "only_for_snapped"
	ReasonFieldNotJSON        Reason = "field_not_json"
	ReasonFieldOutOfRange     Reason = "field_out_of_range"
	ReasonFieldTwice          Reason = "field_twice"
	ReasonFieldBase64         Reason = "field_base64"
	ReasonFieldWholeNumber    Reason = "field_whole_number"
	ReasonFieldUUID           Reason = "field_uuid"
	ReasonFieldUUID7          Reason = "field_uuid7"
	ReasonFieldDigest         Reason = "field_digest"
	ReasonFieldOneOf          Reason = "field_one_of"
	ReasonEventTypeForm       Reason = "event_type_form"
	ReasonFieldTime           Reason = "field_time"
	ReasonEventTypeUnknown    Reason = "event_type_unknown"
	ReasonModelBudgetZero     Reason = "model_budget_zero"
	ReasonTaskGitAction       Reason = "task_git_action"
	ReasonTaskOnlyGit         Reason = "task_only_git"
	ReasonTaskGitArgs         Reason = "task_git_args"
	ReasonTaskOnlyEdit        Reason = "task_only_edit"
	ReasonTaskWorktreeProject Reason = "task_worktree_project"
	ReasonTaskWorktreeAttempt Reason = "task_worktree_attempt"
	ReasonTaskTrigger         Reason = "task_trigger"
	ReasonTaskNoCommands      Reason = "task_no_commands"
	ReasonArgvOrShell         Reason = "argv_or_shell"
	ReasonAllowlistMode       Reason = "allowlist_mode"
	ReasonTakeFromItself      Reason = "take_from_itself"
	ReasonFieldNoUTF8         Reason = "field_no_utf8"
	ReasonOverlayOutcome      Reason = "overlay_outcome"
	ReasonPageNameLine        Reason = "page_name_line"
	ReasonThemeNameRule       Reason = "theme_name_rule"
	ReasonTokenNameRule       Reason = "token_name_rule"
	ReasonThemeTokenTwice     Reason = "theme_token_twice"
	ReasonThemeValueCharacter Reason = "theme_value_character"
	ReasonThemeValueComment   Reason = "theme_value_comment"
	ReasonThemeValueOpen      Reason = "theme_value_open"
	ReasonThemeValueCall      Reason = "theme_value_call"
	ReasonWindowNoChange      Reason = "window_no_change"
	ReasonRunOpensNone        Reason = "run_opens_none"
	ReasonSettingNameRule     Reason = "setting_name_rule"
	ReasonAppNameRule         Reason = "app_name_rule"
	ReasonFieldUnseen         Reason = "field_unseen"
	ReasonTaskNotJSON         Reason = "task_not_json"
	ReasonGrantTooLong        Reason = "grant_too_long"
	ReasonGrantScope          Reason = "grant_scope"
	ReasonExportFormat        Reason = "export_format"
	ReasonFieldSaysNothing    Reason = "field_says_nothing"
	ReasonFieldBeforeStart    Reason = "field_before_start"
	ReasonVersionAndAsOf      Reason = "version_and_as_of"
	ReasonFieldNoDigest       Reason = "field_no_digest"
	ReasonFieldMustBeUUID7    Reason = "field_must_be_uuid7"
	ReasonIfMatchMissing      Reason = "if_match_missing"
	ReasonSeenMissing         Reason = "seen_missing"
	ReasonFieldNoEvent        Reason = "field_no_event"
	ReasonFieldOver           Reason = "field_over"
	ReasonReplayKeyUsed       Reason = "replay_key_used"
	ReasonFieldNoOffset       Reason = "field_no_offset"
	ReasonSeqOrCheckpoint     Reason = "seq_or_checkpoint"
	ReasonGrantOneHost        Reason = "grant_one_host"
	ReasonAllowlistWithNone   Reason = "allowlist_with_none"
	ReasonHostNotListed       Reason = "host_not_listed"
	ReasonEgressMode          Reason = "egress_mode"
	ReasonHostRule            Reason = "host_rule"
	ReasonHostBelowAddress    Reason = "host_below_address"
	ReasonFieldNoPort         Reason = "field_no_port"
	ReasonHTTPMethodRule      Reason = "http_method_rule"
	ReasonVaultHostRule       Reason = "vault_host_rule"
	ReasonVaultOnlyGit        Reason = "vault_only_git"
	ReasonVaultHeader         Reason = "vault_header"
	ReasonVaultPrefix         Reason = "vault_prefix"
	ReasonVaultNotGit         Reason = "vault_not_git"
	ReasonVaultUser           Reason = "vault_user"
	ReasonVaultGitMethods     Reason = "vault_git_methods"
	ReasonArchivePathLong     Reason = "archive_path_long"
	ReasonArchiveOrderBlob    Reason = "archive_order_blob"
	ReasonArchiveNoMember     Reason = "archive_no_member"
	ReasonArchiveOrder        Reason = "archive_order"
	ReasonArchiveNoLog        Reason = "archive_no_log"
	ReasonEventNeeds          Reason = "event_needs"
	ReasonEventAboutOther     Reason = "event_about_other"
	ReasonFieldEventNumber    Reason = "field_event_number"
	ReasonPathRule            Reason = "path_rule"
	ReasonPayloadLarge        Reason = "payload_large"
	ReasonDocumentLarge       Reason = "document_large"
	ReasonAppendSameBatch     Reason = "append_same_batch"
	ReasonAppendUnanswered    Reason = "append_unanswered"
	ReasonAppendIDTaken       Reason = "append_id_taken"
	ReasonAppendOnce          Reason = "append_once"
)

// fieldReasons maps each of these reasons to the code of its errors. Their sentences are
// in problems.*.json.
var fieldReasons = map[Reason]Code{
	ReasonFieldRequired:       CodeInvalid,
	ReasonFieldUnknown:        CodeInvalid,
	ReasonFieldUnknownMeant:   CodeInvalid,
	ReasonFieldUnknownKnown:   CodeInvalid,
	ReasonFieldShort:          CodeInvalid,
	ReasonFieldLong:           CodeTooLarge,
	ReasonFieldFew:            CodeInvalid,
	ReasonFieldMany:           CodeTooLarge,
	ReasonFieldFewBytes:       CodeInvalid,
	ReasonFieldManyBytes:      CodeTooLarge,
	ReasonFieldRange:          CodeInvalid,
	ReasonFieldNoBoolean:      CodeInvalid,
	ReasonFieldNoNumber:       CodeInvalid,
	ReasonFieldNoText:         CodeInvalid,
	ReasonFieldNoList:         CodeInvalid,
	ReasonFieldNoObject:       CodeInvalid,
	ReasonFieldNoTime:         CodeInvalid,
	ReasonFieldNoBase64:       CodeInvalid,
	ReasonProjectNameRule:     CodeInvalid,
	ReasonFieldBeforeFrom:     CodeInvalid,
	ReasonOnlyForRequest:      CodeInvalid,
	ReasonOnlyForMinimised:    CodeInvalid,
	ReasonOnlyForSnapped:      CodeInvalid,
	ReasonFieldNotJSON:        CodeInvalid,
	ReasonFieldOutOfRange:     CodeInvalid,
	ReasonFieldTwice:          CodeInvalid,
	ReasonFieldBase64:         CodeInvalid,
	ReasonFieldWholeNumber:    CodeInvalid,
	ReasonFieldUUID:           CodeInvalid,
	ReasonFieldUUID7:          CodeInvalid,
	ReasonFieldDigest:         CodeInvalid,
	ReasonFieldOneOf:          CodeInvalid,
	ReasonEventTypeForm:       CodeInvalid,
	ReasonFieldTime:           CodeInvalid,
	ReasonEventTypeUnknown:    CodeInvalid,
	ReasonModelBudgetZero:     CodeInvalid,
	ReasonTaskGitAction:       CodeInvalid,
	ReasonTaskOnlyGit:         CodeInvalid,
	ReasonTaskGitArgs:         CodeInvalid,
	ReasonTaskOnlyEdit:        CodeInvalid,
	ReasonTaskWorktreeProject: CodeInvalid,
	ReasonTaskWorktreeAttempt: CodeInvalid,
	ReasonTaskTrigger:         CodeInvalid,
	ReasonTaskNoCommands:      CodeInvalid,
	ReasonArgvOrShell:         CodeInvalid,
	ReasonAllowlistMode:       CodeInvalid,
	ReasonTakeFromItself:      CodeInvalid,
	ReasonFieldNoUTF8:         CodeInvalid,
	ReasonOverlayOutcome:      CodeInvalid,
	ReasonPageNameLine:        CodeInvalid,
	ReasonThemeNameRule:       CodeInvalid,
	ReasonTokenNameRule:       CodeInvalid,
	ReasonThemeTokenTwice:     CodeInvalid,
	ReasonThemeValueCharacter: CodeInvalid,
	ReasonThemeValueComment:   CodeInvalid,
	ReasonThemeValueOpen:      CodeInvalid,
	ReasonThemeValueCall:      CodeInvalid,
	ReasonWindowNoChange:      CodeInvalid,
	ReasonRunOpensNone:        CodeInvalid,
	ReasonSettingNameRule:     CodeInvalid,
	ReasonAppNameRule:         CodeInvalid,
	ReasonFieldUnseen:         CodeInvalid,
	ReasonTaskNotJSON:         CodeInvalid,
	ReasonGrantTooLong:        CodeInvalid,
	ReasonGrantScope:          CodeInvalid,
	ReasonExportFormat:        CodeInvalid,
	ReasonFieldSaysNothing:    CodeInvalid,
	ReasonFieldBeforeStart:    CodeInvalid,
	ReasonVersionAndAsOf:      CodeInvalid,
	ReasonFieldNoDigest:       CodeInvalid,
	ReasonFieldMustBeUUID7:    CodeInvalid,
	ReasonIfMatchMissing:      CodeInvalid,
	ReasonSeenMissing:         CodeInvalid,
	ReasonFieldNoEvent:        CodeInvalid,
	ReasonFieldOver:           CodeInvalid,
	ReasonReplayKeyUsed:       CodeInvalid,
	ReasonFieldNoOffset:       CodeInvalid,
	ReasonSeqOrCheckpoint:     CodeInvalid,
	ReasonGrantOneHost:        CodeInvalid,
	ReasonAllowlistWithNone:   CodeInvalid,
	ReasonHostNotListed:       CodeInvalid,
	ReasonEgressMode:          CodeInvalid,
	ReasonHostRule:            CodeInvalid,
	ReasonHostBelowAddress:    CodeInvalid,
	ReasonFieldNoPort:         CodeInvalid,
	ReasonHTTPMethodRule:      CodeInvalid,
	ReasonVaultHostRule:       CodeInvalid,
	ReasonVaultOnlyGit:        CodeInvalid,
	ReasonVaultHeader:         CodeInvalid,
	ReasonVaultPrefix:         CodeInvalid,
	ReasonVaultNotGit:         CodeInvalid,
	ReasonVaultUser:           CodeInvalid,
	ReasonVaultGitMethods:     CodeInvalid,
	ReasonArchivePathLong:     CodeInvalid,
	ReasonArchiveOrderBlob:    CodeInvalid,
	ReasonArchiveNoMember:     CodeInvalid,
	ReasonArchiveOrder:        CodeInvalid,
	ReasonArchiveNoLog:        CodeInvalid,
	ReasonEventNeeds:          CodeInvalid,
	ReasonEventAboutOther:     CodeInvalid,
	ReasonFieldEventNumber:    CodeInvalid,
	ReasonPathRule:            CodeInvalid,
	ReasonPayloadLarge:        CodeTooLarge,
	ReasonDocumentLarge:       CodeTooLarge,
	ReasonAppendSameBatch:     CodeConflict,
	ReasonAppendUnanswered:    CodeNotFound,
	ReasonAppendIDTaken:       CodeConflict,
	ReasonAppendOnce:          CodeConflict,
}
