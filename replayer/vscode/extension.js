// Starts `reweave dap` for each session; the setting reweave.path says where reweave is.
const vscode = require('vscode');

exports.activate = (context) => {
  const factory = {
    createDebugAdapterDescriptor: () =>
      new vscode.DebugAdapterExecutable(vscode.workspace.getConfiguration('reweave').get('path') || 'reweave', ['dap']),
  };
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory('reweave', factory));
};
