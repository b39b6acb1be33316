// Judges the changes of a pull request with intent-lsp, which must be on the PATH of the agent. Add it to `stages`:
stage('intent') {
    when { changeRequest() }
    steps {
        sh '''
            set -eu
            git fetch --quiet origin "+refs/heads/$CHANGE_TARGET:refs/remotes/origin/$CHANGE_TARGET"
            intent-lsp check --base "origin/$CHANGE_TARGET" --also "junit=$PWD/intent-junit.xml"
        '''
    }
    post {
        always { junit testResults: 'intent-junit.xml', allowEmptyResults: true }
    }
}
