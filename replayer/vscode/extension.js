// Starts `reweave dap` for each session. The setting reweave.path is the path of the reweave program.
const vscode = require('vscode');

exports.activate = (context) => {
  const factory = {
    createDebugAdapterDescriptor: () =>
      new vscode.DebugAdapterExecutable(vscode.workspace.getConfiguration('reweave').get('path') || 'reweave', ['dap']),
  };
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory('reweave', factory));
};
